import { openDigesters } from './digesters.js';
import type { Digesters } from './digesters.js';
import type { PlannedWrite } from './crawl-plan.js';
import { readDigests } from './digest-writes.js';
import type { Workload } from './digest-writes.js';
import { isFolder } from './entries.js';
import type { Entries } from './entries.js';

/** Fewer files are read in the thread that walks, which has no time for it yet. */
export const WORTH_IT = 2000;

/** What is handed to a thread at once, and how many of these are under way for each: more than one pause of the walk needs. */
const BATCH_ENTRIES = 256;
const AHEAD = 4;

/**
 * Reads files while the walk still looks for others, so that no core waits. It
 * reads no more than threads keep up with: the rest is better read in the order
 * that it is written in.
 */
export class ReadAhead {
  readonly #root: string;
  readonly #digests = new Map<number, string>();
  readonly #underWay = new Set<Promise<void>>();
  #digesters: Digesters | undefined;
  #next = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** To be called now and then while the walk adds entries. */
  offer(entries: Entries): void {
    if (entries.length < WORTH_IT) return;
    this.#digesters ??= openDigesters({ files: entries.length, bytes: 0 });
    const most = this.#digesters.parallel * AHEAD;
    while (this.#underWay.size < most && this.#next + BATCH_ENTRIES <= entries.length) {
      this.#start(entries, this.#digesters);
    }
  }

  /** The writes with the digests of what was read; files that have gone or can't be read still need one. */
  async addDigests(writes: readonly PlannedWrite[]): Promise<readonly PlannedWrite[]> {
    await Promise.all(this.#underWay);
    if (this.#digests.size === 0) return writes;
    return writes.map((write) =>
      write.digest === undefined ? { ...write, digest: this.#digests.get(write.index) } : write,
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

  #start(entries: Entries, digesters: Digesters): void {
    const to = this.#next + BATCH_ENTRIES;
    const files: number[] = [];
    for (let index = this.#next; index < to; index += 1) {
      if (!isFolder({ mode: entries.mode(index) })) files.push(index);
    }
    this.#next = to;
    const reading = this.#read(entries, digesters, files).finally(() => this.#underWay.delete(reading));
    this.#underWay.add(reading);
  }

  async #read(entries: Entries, digesters: Digesters, files: readonly number[]): Promise<void> {
    // What fails here is read again in its turn, and fails again.
    const answer = await readDigests({ entries, root: this.#root, digesters }, files).catch(() => undefined);
    answer?.digests.forEach((digest, place) => {
      if (digest !== '') this.#digests.set(files[place] ?? 0, digest);
    });
  }
}
