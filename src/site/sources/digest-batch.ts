import { createFileDigester } from './digest-file.js';
import type { Witness, StatNumbers } from './entries.js';
import { STAT_FIELDS } from './entries.js';
import { errorCode, isGone } from './unreadable.js';

/** Files to read, in a form that is cheap to hand to another thread. */
export interface DigestBatch {
  readonly root: string;
  readonly paths: readonly string[];
  /** Four numbers a file: size, mtimeMs, ctimeMs, ino. */
  readonly witnesses: Float64Array;
}

export interface DigestAnswer {
  /** In the order of the batch; empty for a file that has gone. */
  readonly digests: readonly string[];
  /** The new numbers of files that changed since they were listed. */
  readonly changed: readonly { readonly index: number; readonly stats: StatNumbers }[];
  /** The first file that can't be read; those after it were not tried. */
  readonly failure: { readonly path: string; readonly code: string } | undefined;
}

/** Gives a function that reads batches, one file at a time. */
export function createBatchDigester(): (batch: DigestBatch) => DigestAnswer {
  const digestFile = createFileDigester();
  return ({ root, paths, witnesses }) => {
    const digests: string[] = [];
    const changed: { index: number; stats: StatNumbers }[] = [];
    for (const [index, path] of paths.entries()) {
      try {
        const found = digestFile(`${root}/${path}`, toWitness(witnesses, index));
        digests.push(found?.digest ?? '');
        if (found?.stats) changed.push({ index, stats: toNumbers(found.stats) });
      } catch (error) {
        if (!isGone(error)) return { digests, changed, failure: { path, code: errorCode(error) } };
        digests.push('');
      }
    }
    return { digests, changed, failure: undefined };
  };
}

function toWitness(numbers: Float64Array, index: number): Witness {
  const read = (offset: number): number => numbers[index * 4 + offset] ?? 0;
  return { size: read(0), mtimeMs: read(1), ctimeMs: read(2), ino: read(3) };
}

function toNumbers(stats: StatNumbers): StatNumbers {
  return Object.fromEntries(STAT_FIELDS.map((field) => [field, stats[field]])) as Record<keyof StatNumbers, number>;
}
