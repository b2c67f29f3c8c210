import { inThreads } from './digesters.js';
import type { Digesters } from './digesters.js';
import { isUntouched, readWitness } from './entries.js';
import type { Witness } from './entries.js';

/**
 * Files of this size (bytes) or more are read after the others: MD5 takes at least a tenth of a second for it, and a
 * site with videos of some gigabytes would otherwise be unavailable for minutes.
 */
export const LATE_BYTES = 64 * 1024 * 1024;

/** The result of reading a large file: a digest, or the system's code when it can't be read. */
export interface LateResult {
  readonly digest?: string;
  readonly code?: string;
}

interface Read extends LateResult {
  /** The state of the file when it was read. */
  readonly witness?: Witness;
}

/** Reads large files one after the other in a thread of its own, from the start on, while the site is served without them. */
export class LateDigests {
  readonly #onRead: (root: string, path: string) => void;
  readonly #results = new Map<string, Read>();
  readonly #wanted = new Map<string, { readonly root: string; readonly path: string }>();
  #digesters: Digesters | undefined;
  /** Until the start, what keeps the site from being served goes first. */
  #isReading = true;
  #isClosed = false;

  /** @param onRead Called when there is a result to {@link take}. */
  constructor(onRead: (root: string, path: string) => void) {
    this.#onRead = onRead;
  }

  /** The result for a file that is still as it was read, once; otherwise the file will be read. */
  take(root: string, path: string, now: Witness): LateResult | undefined {
    const key = `${root}/${path}`;
    const read = this.#results.get(key);
    this.#results.delete(key);
    if (read && (read.witness === undefined || isUntouched(now, read.witness))) return read;
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

  /** Returns `undefined` for a file that was deleted or replaced by another type of entry. */
  async #read(root: string, path: string): Promise<Read | undefined> {
    this.#digesters ??= inThreads(1);
    const batch = { root, paths: [path], witnesses: new Float64Array(4).fill(NaN) };
    const { digests, failures, numbers } = await this.#digesters.digest(batch);
    const [failure] = failures;
    if (failure) return { code: failure.code };
    const [digest] = digests;
    return digest ? { digest, witness: readWitness(numbers) } : undefined;
  }
}
