import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { retryOnEmfile } from './retry-on-emfile.js';
import { isUnchangedFile, TIMESTAMP_GRANULARITY_MS } from './entries.js';
import type { FileFingerprint } from './entries.js';

/** Larger files are read in pieces of this size, so that memory does not grow with the file. */
const PIECE_BYTES = 256 * 1024;

/** If the file was replaced by a pipe, a blocking open would wait for its other end. */
const OPEN = constants.O_RDONLY | constants.O_NONBLOCK;

/** A file that was only listed may have been replaced by a link, whose target was not checked. */
const OPEN_LISTED = OPEN | constants.O_NOFOLLOW;

/** The digest of a file that changes continuously, such as a log, is accepted after this many attempts. */
const MAX_READINGS = 3;

export interface FileDigest {
  /** MD5 of the bytes, in hexadecimal. */
  readonly digest: string;
  /** The stats of the file when its bytes were read, if they differ from the known ones. */
  readonly stats: Stats | undefined;
}

/**
 * Digests a file. Returns `undefined` if it is not a regular file, and `late` without reading it if it has at least
 * `lateBytes`.
 */
export type DigestFile = (path: string, known: FileFingerprint, lateBytes?: number) => FileDigest | 'late' | undefined;

/** Creates a file digester that reuses one buffer. */
export function createFileDigester(): DigestFile {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  return (path, known, lateBytes = Infinity) => {
    const flags = Number.isNaN(known.size) ? OPEN_LISTED : OPEN;
    const descriptor = retryOnEmfile(() => openSync(path, flags));
    try {
      return digestDescriptor(descriptor, buffer, { known, lateBytes });
    } finally {
      closeSync(descriptor);
    }
  };
}

interface Digesting {
  readonly known: FileFingerprint;
  readonly lateBytes: number;
}

function digestDescriptor(
  descriptor: number,
  buffer: Buffer,
  { known, lateBytes }: Digesting,
): FileDigest | 'late' | undefined {
  let before = known;
  for (let reading = 1; ; reading += 1) {
    const startedMs = Date.now();
    const digest = digestBytes(descriptor, buffer, lateBytes);
    if (digest === undefined) return 'late';
    const stats = fstatSync(descriptor);
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

function digestBytes(descriptor: number, buffer: Buffer, lateBytes: number): string | undefined {
  let length = readSync(descriptor, buffer, 0, buffer.length, 0);
  if (length < buffer.length) return hash('md5', buffer.subarray(0, length));
  // Checked after the first read, which is all that most files need.
  if (lateBytes < Infinity && fstatSync(descriptor).size >= lateBytes) return undefined;
  const digest = createHash('md5');
  for (let offset = 0; length > 0; offset += length, length = readSync(descriptor, buffer, 0, buffer.length, offset)) {
    digest.update(buffer.subarray(0, length));
  }
  return digest.digest('hex');
}
