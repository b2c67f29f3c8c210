import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { findNeedles } from './needles.js';
import type { Needle } from './needles.js';

const CHUNK_BYTES = 16 * 2 ** 20;

/** More than the longest needle has. */
const OVERLAP_BYTES = 1024;

/** Linux shows the memory of a process to whoever may trace it, such as its parent. */
export const canReadMemory = process.platform === 'linux';

export interface MemorySearch {
  readonly found: readonly string[];
  readonly bytesRead: number;
}

/** Searches everything that a process has mapped and may read: heaps, stacks, buffers, files. */
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

/** Piece by piece, each with the end of the one before; what can't be read, such as the kernel's own pages, is left out. */
async function* readRegion(memory: FileHandle, { from, to }: { readonly from: number; readonly to: number }) {
  for (let start = from; start < to; start += CHUNK_BYTES) {
    const size = Math.min(CHUNK_BYTES + OVERLAP_BYTES, to - start);
    const buffer = Buffer.alloc(size);
    const read = await memory.read(buffer, 0, size, start).catch(() => ({ bytesRead: 0 }));
    if (read.bytesRead > 0) yield buffer.subarray(0, read.bytesRead);
  }
}
