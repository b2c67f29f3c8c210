import { type FileFingerprint, isUnchangedFile, readFingerprint } from '../entries.js';
import { type Digesters, openDigesterThreads } from './digesters.js';

/**
 * Files of at least this size in bytes are read after the others. MD5 takes 100 ms or more for them, and a site with
 * several gigabytes of videos would otherwise be unavailable for minutes.
 */
export const LARGE_FILE_BYTES = 64 * 1024 * 1024;

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
  #digesters: Digesters | undefined;
  /** True until {@link start}, because the first scan, which the site waits for, has priority. */
  #isReading = true;
  #isClosed = false;

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

  start(): void {
    this.#isReading = false;
    void this.#readAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#digesters?.close();
  }

  async #readAll(): Promise<void> {
    if (this.#isReading || this.#wanted.size === 0) return;
    this.#isReading = true;
    for (const [key, { root, path }] of this.#wanted) {
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
