import { type FileHandle, open, readFile } from 'node:fs/promises';
import { findNeedles, type Needle } from './needles.js';

const CHUNK_BYTES = 16 * 2 ** 20;

/** More than the length of the longest needle. */
const OVERLAP_BYTES = 1024;

/** Linux exposes the memory of a process to processes that can trace it, such as its parent. */
export const canReadMemory = process.platform === 'linux';

export interface MemorySearch {
  readonly found: readonly string[];
  readonly bytesRead: number;
}

/** Searches all readable mappings of a process: heaps, stacks, buffers and files. */
export async function searchMemory(pid: number, needles: readonly Needle[]): Promise<MemorySearch> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  const memory = await open(`/proc/${pid}/mem`);
  const found = new Set<string>();
  let bytesRead = 0;
  try {
    for (const [, from = '', to = ''] of maps.matchAll(/^([\da-f]+)-([\da-f]+) r/gm)) {
      const region = { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) };
      for await (const chunk of readRegion(memory, region)) {
        bytesRead += chunk.length;
        for (const form of findNeedles(chunk, needles)) found.add(form);
      }
    }
  } finally {
    await memory.close();
  }
  return { found: [...found], bytesRead };
}

/** Yields overlapping chunks of a mapping, without the pages that can't be read, such as those of the kernel. */
async function* readRegion(memory: FileHandle, { from, to }: { readonly from: number; readonly to: number }) {
  for (let start = from; start < to; start += CHUNK_BYTES) {
    const size = Math.min(CHUNK_BYTES + OVERLAP_BYTES, to - start);
    const buffer = Buffer.alloc(size);
    const read = await memory.read(buffer, 0, size, start).catch(() => ({ bytesRead: 0 }));
    if (read.bytesRead > 0) yield buffer.subarray(0, read.bytesRead);
  }
}
