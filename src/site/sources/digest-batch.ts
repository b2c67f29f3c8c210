import { createFileDigester } from './digest-file.js';
import type { Witness } from './entries.js';
import { WIDTH, writeNumbers } from './entries.js';
import { errorCode, isGone } from './unreadable.js';

/** Files to read, in a form that is cheap to hand to another thread. */
export interface DigestBatch {
  readonly root: string;
  readonly paths: readonly string[];
  /** Four numbers a file: size, mtimeMs, ctimeMs, ino; NaN for a file that was only listed. */
  readonly witnesses: Float64Array;
  /** Files of this size or more are left for later; absent, all are read. */
  readonly lateBytes?: number | undefined;
}

export interface DigestAnswer {
  /** In the order of the batch, of as many of its files as were looked at; empty for one without a digest. */
  readonly digests: readonly string[];
  /** The places in the batch of files that changed since they were listed, or were only listed. */
  readonly changed: readonly number[];
  /** All the numbers of each of these, in their order. */
  readonly numbers: Float64Array;
  /** The places in the batch of files that can't be read, with the system's code. */
  readonly failures: readonly { readonly index: number; readonly code: string }[];
  /** The places in the batch of files that are left for later. */
  readonly late: readonly number[];
}

/** What is read at once when sizes were not known beforehand: soon done, so that a refusal or an abort is soon noticed. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Gives a function that reads batches, one file at a time: all of a batch, or as much as is soon done. */
export function createBatchDigester(): (batch: DigestBatch) => DigestAnswer {
  const digestFile = createFileDigester();
  return ({ root, paths, witnesses, lateBytes }) => {
    const digests: string[] = [];
    const changed: number[] = [];
    const failures: { index: number; code: string }[] = [];
    const late: number[] = [];
    const numbers = new Float64Array(paths.length * WIDTH);
    let bytes = 0;
    for (const [index, path] of paths.entries()) {
      try {
        const found = digestFile(`${root}/${path}`, toWitness(witnesses, index), lateBytes);
        if (found === 'late') late.push(index);
        digests.push(found === 'late' ? '' : (found?.digest ?? ''));
        if (found === 'late') continue;
        if (!found?.stats) continue;
        writeNumbers(numbers, (changed.push(index) - 1) * WIDTH, found.stats);
        bytes += found.stats.size;
      } catch (error) {
        if (!isGone(error)) failures.push({ index, code: errorCode(error) });
        digests.push('');
      }
      if (bytes >= MAX_BYTES) break;
    }
    return { digests, changed, numbers: numbers.slice(0, changed.length * WIDTH), failures, late };
  };
}

function toWitness(numbers: Float64Array, index: number): Witness {
  const read = (offset: number): number => numbers[index * 4 + offset] ?? 0;
  return { size: read(0), mtimeMs: read(1), ctimeMs: read(2), ino: read(3) };
}
