import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import {
  type FileFingerprint,
  getErrorCode,
  isMissingFileError,
  isUnchangedFile,
  retryOnEmfile,
  STATS_PER_ENTRY,
  TIMESTAMP_GRANULARITY_MS,
  writeStats,
} from '../entries.js';

/** Files to read, in a form that is cheap to pass to another thread. */
export interface DigestBatch {
  readonly root: string;
  readonly paths: readonly string[];
  /** Four numbers per file: size, mtimeMs, ctimeMs, ino; NaN for a file that was only listed. */
  readonly witnesses: Float64Array;
  /** The size from which each file is not read; if absent, all are read. */
  readonly lateBytes?: readonly number[];
  /** Receives the bytes of the current file that are read, and its size: see {@link createProgress}. */
  readonly progress?: Float64Array;
}

/** Creates numbers that a thread writes while others read them. */
export const createProgress = (): Float64Array =>
  new Float64Array(new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT));

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
  return ({ root, paths, witnesses, lateBytes, progress }) => {
    const digests: string[] = [];
    const changed: number[] = [];
    const failures: { index: number; code: string }[] = [];
    const late: number[] = [];
    const numbers = new Float64Array(paths.length * STATS_PER_ENTRY);
    let bytes = 0;
    for (const [index, path] of paths.entries()) {
      try {
        const found = digestFile(`${root}/${path}`, {
          known: toWitness(witnesses, index),
          lateBytes: lateBytes?.[index] ?? Infinity,
          progress,
        });
        if (found && found.digest === undefined) late.push(index);
        digests.push(found?.digest ?? '');
        if (!found?.stats) continue;
        writeStats(numbers, (changed.push(index) - 1) * STATS_PER_ENTRY, found.stats);
        if (found.digest !== undefined) bytes += found.stats.size;
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

/** Larger files are read in pieces of this size, so that memory does not grow with the file. */
const PIECE_BYTES = 256 * 1024;

/** If the file was replaced by a pipe, a blocking open would wait for its other end. */
const OPEN = constants.O_RDONLY | constants.O_NONBLOCK;

/** A file that was only listed may have been replaced by a link, whose target was not checked. */
const OPEN_LISTED = OPEN | constants.O_NOFOLLOW;

/** The digest of a file that changes continuously, such as a log, is accepted after this many attempts. */
const MAX_READINGS = 3;

interface FileDigest {
  /** MD5 of the bytes, in hexadecimal; `undefined` for a large file, which was not read. */
  readonly digest: string | undefined;
  /** The stats of the file when its bytes were read, if they differ from the known ones. */
  readonly stats: Stats | undefined;
}

/** Digests a file, unless it has at least `lateBytes`. Returns `undefined` if it is not a regular file. */
type DigestFile = (path: string, digesting: Digesting) => FileDigest | undefined;

/** Creates a file digester that reuses one buffer. */
function createFileDigester(): DigestFile {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  return (path, digesting) => {
    const flags = Number.isNaN(digesting.known.size) ? OPEN_LISTED : OPEN;
    const descriptor = retryOnEmfile(() => openSync(path, flags));
    try {
      return digestDescriptor(descriptor, buffer, digesting);
    } finally {
      closeSync(descriptor);
    }
  };
}

interface Digesting {
  readonly known: FileFingerprint;
  readonly lateBytes: number;
  readonly progress?: Float64Array;
}

function digestDescriptor(descriptor: number, buffer: Buffer, digesting: Digesting): FileDigest | undefined {
  const { known } = digesting;
  let before = known;
  for (let reading = 1; ; reading += 1) {
    const startedMs = Date.now();
    const digest = digestBytes(descriptor, buffer, digesting);
    const stats = fstatSync(descriptor);
    if (digest === undefined) return { digest, stats };
    if (!stats.isFile()) return undefined;
    const isSame = isUnchangedFile(stats, before) || isSettled(stats, startedMs);
    if (isSame || reading === MAX_READINGS) {
      return { digest, stats: before === known && isUnchangedFile(stats, known) ? undefined : stats };
    }
    before = stats;
  }
}

/** Whether the last change of a file was well before reading it began. */
function isSettled({ ctimeMs }: FileFingerprint, startedMs: number): boolean {
  return ctimeMs < startedMs - TIMESTAMP_GRANULARITY_MS;
}

function digestBytes(descriptor: number, buffer: Buffer, { lateBytes, progress }: Digesting): string | undefined {
  let length = readSync(descriptor, buffer, 0, buffer.length, 0);
  if (length < buffer.length) return hash('md5', buffer.subarray(0, length));
  // Checked after the first read, which is all that most files need.
  if (lateBytes < Infinity && fstatSync(descriptor).size >= lateBytes) return undefined;
  progress?.set([0, fstatSync(descriptor).size]);
  const digest = createHash('md5');
  for (let offset = 0; length > 0; offset += length, length = readSync(descriptor, buffer, 0, buffer.length, offset)) {
    digest.update(buffer.subarray(0, length));
    if (progress) progress[0] = offset + length;
  }
  return digest.digest('hex');
}
