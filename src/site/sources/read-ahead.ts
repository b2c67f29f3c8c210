import { openDigesters } from './digesters.js';
import type { Digesters } from './digesters.js';
import type { PlannedWrite } from './scan-plan.js';
import { readDigests } from './digest-writes.js';
import type { Workload } from './digest-writes.js';
import { isFolder } from './entries.js';
import type { LargeFileDigests } from './large-file-digests.js';
import type { WalkEntries } from './entries.js';

/** With fewer entries, reading ahead is not worth starting threads. */
export const READ_AHEAD_MIN_ENTRIES = 2000;

/** The number of entries per batch for a thread. */
const BATCH_ENTRIES = 256;

/** The number of pending batches per thread, enough to keep it busy until the next offer. */
const AHEAD = { walking: 4, planning: 32 };

/**
 * Reads the files of a first scan as soon as the walk finds them, so that no core is idle. It reads first in the order
 * of the walk, which is nearly that of the writes, and then on demand.
 */
export class ReadAhead {
  readonly #root: string;
  readonly #digests: (string | undefined)[] = [];
  /** The batches of consecutive entries, by number. */
  readonly #batches: (Promise<void> | undefined)[] = [];
  #underWay = 0;
  #digesters: Digesters | undefined;
  #next = 0;

  readonly #late: LargeFileDigests | undefined;

  /** @param late Reads large files, which are then skipped here. */
  constructor(root: string, late?: LargeFileDigests) {
    this.#root = root;
    this.#late = late;
  }

  /** Starts batches for new entries. Call it regularly during the walk and once after it. */
  offer(entries: WalkEntries, when: keyof typeof AHEAD = 'walking'): void {
    if (entries.length < READ_AHEAD_MIN_ENTRIES) return;
    this.#digesters ??= openDigesters({ files: entries.length, bytes: 0 });
    const most = this.#digesters.parallel * AHEAD[when];
    while (this.#underWay < most && (this.#next + 1) * BATCH_ENTRIES <= entries.length) {
      void this.#start(entries, this.#next, this.#digesters);
      this.#next += 1;
    }
  }

  /**
   * Returns the writes with the digests of their files, reading pending ones. Deleted or unreadable files have none.
   */
  async addDigests(entries: WalkEntries, writes: readonly PlannedWrite[]): Promise<readonly PlannedWrite[]> {
    const digesters = this.#digesters;
    if (digesters === undefined || this.#batches.length === 0) return writes;
    const batches = new Set(writes.map(({ index }) => Math.floor(index / BATCH_ENTRIES)));
    await Promise.all([...batches].map((batch) => this.#batches[batch] ?? this.#start(entries, batch, digesters)));
    return writes.map((write) =>
      write.digest === undefined ? { ...write, digest: this.#digests[write.index] } : write,
    );
  }

  /** Returns the digesters for the remaining files: the existing ones or as many threads as the work is worth. */
  digestersFor(work: Workload): Digesters {
    this.#digesters ??= openDigesters(work);
    return this.#digesters;
  }

  async close(): Promise<void> {
    await this.#digesters?.close();
  }

  #start(entries: WalkEntries, batch: number, digesters: Digesters): Promise<void> {
    const files: number[] = [];
    const to = Math.min((batch + 1) * BATCH_ENTRIES, entries.length);
    for (let index = batch * BATCH_ENTRIES; index < to; index += 1) {
      if (!isFolder({ mode: entries.mode(index) })) files.push(index);
    }
    const reading = this.#read(entries, digesters, files);
    this.#batches[batch] = reading;
    return reading;
  }

  async #read(entries: WalkEntries, digesters: Digesters, files: readonly number[]): Promise<void> {
    this.#underWay += 1;
    const from = { entries, root: this.#root, digesters, late: this.#late };
    // A file that fails here is read again later, which reports the failure.
    const result = await readDigests(from, files).catch(() => undefined);
    this.#underWay -= 1;
    result?.digests.forEach((digest, index) => (this.#digests[index] = digest));
  }
}
