import { readFile, stat } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';

/** A file in memory with its response headers. */
export interface CachedFile {
  readonly bytes: Buffer;
  readonly headers: OutgoingHttpHeaders;
}

export interface FileStats {
  readonly size: number;
  readonly mtimeMs: number;
}

/** A cache of small files whose content never changes. */
export interface MemoryFileCache {
  find(name: string): CachedFile | undefined;
  /** Reads a file into the cache; returns `undefined` if it does not exist or is too large for the cache. */
  read(name: string): Promise<CachedFile | undefined>;
}

/** Most images on pages are smaller. Sending a larger one takes much longer than reading it. */
const MAX_BYTES = 256 * 1024;

/** About a thousand images, which covers the popular pages of a site. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;

/** The approximate memory of an entry in addition to the bytes of the file. */
const OVERHEAD_BYTES = 1024;

export function createFileCache(
  folder: string,
  headersOf: (name: string, stats: FileStats) => OutgoingHttpHeaders,
): MemoryFileCache {
  const cache = new LRUCache<string, CachedFile>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + OVERHEAD_BYTES,
  });
  const pending = new Map<string, Promise<CachedFile | undefined>>();

  async function read(name: string): Promise<CachedFile | undefined> {
    const file = join(folder, name);
    try {
      const stats = await stat(file);
      if (stats.size > MAX_BYTES) return undefined;
      const cached = { bytes: await readFile(file), headers: headersOf(name, stats) };
      cache.set(name, cached);
      return cached;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  return {
    find: (name) => cache.get(name),
    read(name) {
      const started = pending.get(name) ?? read(name).finally(() => pending.delete(name));
      pending.set(name, started);
      return started;
    },
  };
}
