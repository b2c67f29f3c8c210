import { openDigesters } from './digesters.js';
import type { Digesters } from './digesters.js';
import type { PlannedWrite } from './crawl-plan.js';
import { readDigests } from './digest-writes.js';
import type { Workload } from './digest-writes.js';
import { isFolder } from './entries.js';
import type { LateDigests } from './late-digests.js';
import type { Entries } from './entries.js';

/** Fewer files are read in the thread that walks, which has no time for it yet. */
export const WORTH_IT = 2000;

/** What is handed to a thread at once. */
const BATCH_ENTRIES = 256;

/** Batches under way for each thread: as many as it reads before there is time to hand it others. */
const AHEAD = { walking: 4, planning: 32 };

/**
 * Reads the files of a first crawl from the moment that they are found, so that
 * no core waits: first in the order of the walk, which is nearly that of
 * writing, then those that are asked for.
 */
export class ReadAhead {
  readonly #root: string;
  readonly #digests: (string | undefined)[] = [];
  /** By number: of entries that follow each other. */
  readonly #batches: (Promise<void> | undefined)[] = [];
  #underWay = 0;
  #digesters: Digesters | undefined;
  #next = 0;

  readonly #late: LateDigests | undefined;

  /** @param late Reads large files, which are left to it. */
  constructor(root: string, late?: LateDigests) {
    this.#root = root;
    this.#late = late;
  }

  /** To be called now and then while the walk adds entries, and when it has ended. */
  offer(entries: Entries, when: keyof typeof AHEAD = 'walking'): void {
    if (entries.length < WORTH_IT) return;
    this.#digesters ??= openDigesters({ files: entries.length, bytes: 0 });
    const most = this.#digesters.parallel * AHEAD[when];
    while (this.#underWay < most && (this.#next + 1) * BATCH_ENTRIES <= entries.length) {
      void this.#start(entries, this.#next, this.#digesters);
      this.#next += 1;
    }
  }

  /** The writes with the digests of their files, read now if need be; what has gone or can't be read has none. */
  async addDigests(entries: Entries, writes: readonly PlannedWrite[]): Promise<readonly PlannedWrite[]> {
    const digesters = this.#digesters;
    if (digesters === undefined || this.#batches.length === 0) return writes;
    const batches = new Set(writes.map(({ index }) => Math.floor(index / BATCH_ENTRIES)));
    await Promise.all([...batches].map((batch) => this.#batches[batch] ?? this.#start(entries, batch, digesters)));
    return writes.map((write) =>
      write.digest === undefined ? { ...write, digest: this.#digests[write.index] } : write,
    );
  }

  /** What reads the rest: the threads that are there already, or as many as the rest is worth. */
  digestersFor(work: Workload): Digesters {
    this.#digesters ??= openDigesters(work);
    return this.#digesters;
  }

  async close(): Promise<void> {
    await this.#digesters?.close();
  }

  #start(entries: Entries, batch: number, digesters: Digesters): Promise<void> {
    const files: number[] = [];
    const to = Math.min((batch + 1) * BATCH_ENTRIES, entries.length);
    for (let index = batch * BATCH_ENTRIES; index < to; index += 1) {
      if (!isFolder({ mode: entries.mode(index) })) files.push(index);
    }
    const reading = this.#read(entries, digesters, files);
    this.#batches[batch] = reading;
    return reading;
  }

  async #read(entries: Entries, digesters: Digesters, files: readonly number[]): Promise<void> {
    this.#underWay += 1;
    const from = { entries, root: this.#root, digesters, late: this.#late };
    // What fails here is read again in its turn, and fails again.
    const answer = await readDigests(from, files).catch(() => undefined);
    this.#underWay -= 1;
    answer?.digests.forEach((digest, index) => (this.#digests[index] = digest));
  }
}
