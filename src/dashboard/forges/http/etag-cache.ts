import { LRUCache } from 'lru-cache';

export interface CachedResponse {
  readonly etag: string | null;
  readonly text: string;
  readonly hasNext: boolean;
}

/** Cached responses that are revalidated with their ETag. */
export type EtagCache = LRUCache<string, CachedResponse>;

/** The limit per process, shared by all users: the commit statuses of about 30 boards of 1,000 pull requests. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export function createEtagCache(): EtagCache {
  return new LRUCache({ maxSize: MAX_CHARACTERS, sizeCalculation: ({ text }) => text.length + 1 });
}
