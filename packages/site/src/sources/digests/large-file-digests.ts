import { type FileFingerprint, isUnchangedFile, readFingerprint } from '../entries.js';
import { type Digesters, openDigesterThreads } from './digesters.js';

const MEBIBYTE = 1024 * 1024;

/** Files whose bytes are the data of other records, which need the digest or the text. */
const IS_READ = /\.(?:avif|csv|gif|jpe?g|json|markdown|mdx?|png|svg|tiff?|webp|ya?ml)$/i;

/**
 * Returns the size in bytes from which a file is read after the others. A site with several gigabytes of videos would
 * otherwise be unavailable for minutes. For images and texts the size is one for which MD5 takes 100 ms or more.
 */
export const lateBytesOf = (path: string): number => (IS_READ.test(path) ? 64 : 4) * MEBIBYTE;

/** Whether a large file is listed before it is read. Images are not, because their links need the digest. */
export const isListedEarly = (path: string): boolean => !IS_READ.test(path);

/** Precedes the real path of a large file in its stored digest, until it is read. */
const PENDING = 'pending ';

export const toPendingDigest = (file: string): string => `${PENDING}${file}`;

/** Returns the real path of the file whose digest is pending; `undefined` for any other digest. */
export const findPendingFile = (digest: unknown): string | undefined =>
  typeof digest === 'string' && digest.startsWith(PENDING) ? digest.slice(PENDING.length) : undefined;

/** The result of reading a large file: its digest, or the system's error code if it can't be read. */
export interface LargeFileResult {
  readonly digest?: string;
  readonly code?: string;
}

interface Read extends LargeFileResult {
  /** The state of the file when it was read. */
  readonly witness?: FileFingerprint;
}

/** Reads large files one after the other in a worker thread, while the site is served without them. */
export class LargeFileDigests {
  readonly #onRead: (root: string, path: string) => void;
  readonly #results = new Map<string, Read>();
  readonly #wanted = new Map<string, { readonly root: string; readonly path: string }>();
  /** Functions that end the waits for stored digests, by absolute path. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #digesters: Digesters | undefined;
  /** True until {@link start}, because the first scan, which the site waits for, has priority. */
  #isReading = true;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @param onRead Called when a result is available from {@link take}. */
  constructor(onRead: (root: string, path: string) => void) {
    this.#onRead = onRead;
  }

  /** Returns and removes the result for a file if it is still valid; otherwise schedules the file to be read. */
  take(root: string, path: string, now: FileFingerprint): LargeFileResult | undefined {
    const key = `${root}/${path}`;
    const read = this.#results.get(key);
    this.#results.delete(key);
    if (read && (read.witness === undefined || isUnchangedFile(now, read.witness))) return read;
    this.#wanted.set(key, { root, path });
    void this.#readAll();
    return undefined;
  }

  /** Reads this file next, and waits until records were written again. */
  wait(file: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(file, [...(this.#waiting.get(file) ?? []), resolve]);
      if (this.#isClosed) this.settle();
    });
  }

  /** Ends all waits, after records were written. */
  settle(): void {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  start(): void {
    this.#isReading = false;
    void this.#readAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.settle();
    await this.#digesters?.close();
  }

  async #readAll(): Promise<void> {
    if (this.#isReading || this.#wanted.size === 0) return;
    this.#isReading = true;
    for (let next = this.#next(); next; next = this.#next()) {
      const [key, { root, path }] = next;
      const read = await this.#read(root, path).catch((error: unknown) => ({ code: String(error) }));
      if (this.#isClosed) return;
      this.#wanted.delete(key);
      if (read) this.#results.set(key, read);
      this.#onRead(root, path);
    }
    this.#isReading = false;
    const digesters = this.#digesters;
    this.#digesters = undefined;
    await digesters?.close();
  }

  /** Returns the next file to read: one whose digest a query waits for, or else the first one. */
  #next() {
    for (const key of this.#waiting.keys()) {
      const wanted = this.#wanted.get(key);
      if (wanted) return [key, wanted] as const;
    }
    const [first] = this.#wanted;
    return first;
  }

  /** Returns `undefined` for a file that was deleted or replaced by a different type of entry. */
  async #read(root: string, path: string): Promise<Read | undefined> {
    this.#digesters ??= openDigesterThreads(1);
    const batch = { root, paths: [path], witnesses: new Float64Array(4).fill(NaN) };
    const { digests, failures, numbers } = await this.#digesters.digest(batch);
    const [failure] = failures;
    if (failure) return { code: failure.code };
    const [digest] = digests;
    return digest ? { digest, witness: readFingerprint(numbers) } : undefined;
  }
}
