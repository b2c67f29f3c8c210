import { readFile, stat } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';

/** A file, ready to be sent. */
export interface HotFile {
  readonly bytes: Buffer;
  readonly headers: OutgoingHttpHeaders;
}

export interface FileStats {
  readonly size: number;
  readonly mtimeMs: number;
}

/** Files whose content never changes under their name, the small ones of them kept in memory. */
export interface HotFiles {
  find(name: string): HotFile | undefined;
  /** `undefined` for a file that is not there, or is too large to be kept. */
  read(name: string): Promise<HotFile | undefined>;
}

/** Most images of pages are smaller; of larger ones, sending takes much longer than reading. */
const MAX_BYTES = 256 * 1024;

/** A thousand images or so: the pages that everybody looks at. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Of what is kept beside the bytes. */
const OVERHEAD_BYTES = 1024;

export function createHotFiles(
  folder: string,
  headersOf: (name: string, stats: FileStats) => OutgoingHttpHeaders,
): HotFiles {
  const kept = new LRUCache<string, HotFile>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + OVERHEAD_BYTES,
  });
  const underWay = new Map<string, Promise<HotFile | undefined>>();

  async function read(name: string): Promise<HotFile | undefined> {
    const file = join(folder, name);
    try {
      const stats = await stat(file);
      if (stats.size > MAX_BYTES) return undefined;
      const hot = { bytes: await readFile(file), headers: headersOf(name, stats) };
      kept.set(name, hot);
      return hot;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  return {
    find: (name) => kept.get(name),
    read(name) {
      const started = underWay.get(name) ?? read(name).finally(() => underWay.delete(name));
      underWay.set(name, started);
      return started;
    },
  };
}
