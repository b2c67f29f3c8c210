import { LRUCache } from 'lru-cache';

export interface KeptAnswer {
  readonly etag: string | null;
  readonly text: string;
  readonly hasNext: boolean;
}

/** Cached responses that are revalidated with their ETag. */
export type Answers = LRUCache<string, KeptAnswer>;

/** The limit per process, shared by all users: the commit statuses of about 30 boards of 1,000 pull requests. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export function createAnswers(): Answers {
  return new LRUCache({ maxSize: MAX_CHARACTERS, sizeCalculation: ({ text }) => text.length + 1 });
}
