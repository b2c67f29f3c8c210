import { createFileDigester } from './digest-file.js';
import type { FileFingerprint } from './entries.js';
import { STATS_PER_ENTRY, writeStats } from './entries.js';
import { getErrorCode, isMissingFileError } from './unreadable.js';

/** Files to read, in a form that is cheap to pass to another thread. */
export interface DigestBatch {
  readonly root: string;
  readonly paths: readonly string[];
  /** Four numbers per file: size, mtimeMs, ctimeMs, ino; NaN for a file that was only listed. */
  readonly witnesses: Float64Array;
  /** Files of at least this size are not read; if absent, all are. */
  readonly lateBytes?: number | undefined;
}

export interface DigestResult {
  /** The digests in the order of the batch, empty for a file without one; possibly fewer than the batch has files. */
  readonly digests: readonly string[];
  /** The indexes in the batch of files that changed since they were listed or were only listed. */
  readonly changed: readonly number[];
  /** The stat numbers of the files in `changed`, in their order. */
  readonly numbers: Float64Array;
  /** The files that can't be read, by index in the batch, with the system's error code. */
  readonly failures: readonly { readonly index: number; readonly code: string }[];
  /** The indexes in the batch of large files that were not read. */
  readonly late: readonly number[];
}

/** The number of bytes per call when sizes are unknown, small enough to react quickly to failures and aborts. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Creates a function that digests the files of a batch one after the other, and may stop early after some megabytes.
 */
export function createBatchDigester(): (batch: DigestBatch) => DigestResult {
  const digestFile = createFileDigester();
  return ({ root, paths, witnesses, lateBytes }) => {
    const digests: string[] = [];
    const changed: number[] = [];
    const failures: { index: number; code: string }[] = [];
    const late: number[] = [];
    const numbers = new Float64Array(paths.length * STATS_PER_ENTRY);
    let bytes = 0;
    for (const [index, path] of paths.entries()) {
      try {
        const found = digestFile(`${root}/${path}`, toWitness(witnesses, index), lateBytes);
        if (found === 'late') late.push(index);
        digests.push(found === 'late' ? '' : (found?.digest ?? ''));
        if (found === 'late') continue;
        if (!found?.stats) continue;
        writeStats(numbers, (changed.push(index) - 1) * STATS_PER_ENTRY, found.stats);
        bytes += found.stats.size;
      } catch (error) {
        if (!isMissingFileError(error)) failures.push({ index, code: getErrorCode(error) });
        digests.push('');
      }
      if (bytes >= MAX_BYTES) break;
    }
    return { digests, changed, numbers: numbers.slice(0, changed.length * STATS_PER_ENTRY), failures, late };
  };
}

function toWitness(numbers: Float64Array, index: number): FileFingerprint {
  const read = (offset: number): number => numbers[index * 4 + offset] ?? 0;
  return { size: read(0), mtimeMs: read(1), ctimeMs: read(2), ino: read(3) };
}
