import { LRUCache } from 'lru-cache';

export interface KeptAnswer {
  readonly etag: string | null;
  readonly text: string;
  readonly hasNext: boolean;
}

/** Answers that are kept to be asked for again with their ETag. */
export type Answers = LRUCache<string, KeptAnswer>;

/** What a process keeps of all its people, in characters: the statuses of some 30 boards of 1,000 pull requests. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export function createAnswers(): Answers {
  return new LRUCache({ maxSize: MAX_CHARACTERS, sizeCalculation: ({ text }) => text.length + 1 });
}
