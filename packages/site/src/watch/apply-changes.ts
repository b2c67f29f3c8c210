import type { RecordStore } from '../record-store.js';
import type { RecordWriter } from '../records/record-writer.js';
import type { ContentProblems, ContentRecords, SourceContent } from '../sources/content/content.js';
import { digestWrites, measureWork, type Workload } from '../sources/digests/digest-writes.js';
import { type Digesters, type LargeFileDigests, openDigesters } from '../sources/digests/large-file-digests.js';
import { type EntryProblem, isFolder, TIMESTAMP_GRANULARITY_MS, type WalkEntries } from '../sources/entries.js';
import { type EntryProblems, isAtOrBelow, type SiteProblem } from '../sources/problems.js';
import {
  createEntryWriter,
  type EntryWriter,
  findStoredEntry,
  getChangedPaths,
  type PlannedWrite,
  recordWatchedUpdate,
} from '../sources/scan-plan.js';
import { walk, type WalkResult, type WalkStart } from '../sources/walk.js';
import { type ChangePlan, Listing, planChanges } from './plan-changes.js';
import type { WatchedSource } from './watched-source.js';

/** The number of records of files and folders that an update changed. */
export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Folders that were added or removed. */
  readonly folders: number;
}

interface SourceUpdateOptions {
  readonly store: RecordStore;
  readonly content: ContentRecords;
  readonly problems: EntryProblems;
  readonly late: LargeFileDigests;
  readonly signal: AbortSignal;
}

interface ApplyChangesOptions extends SourceUpdateOptions {
  readonly sources: readonly WatchedSource[];
}

interface AppliedChanges extends ChangeCounts {
  readonly problems: ContentProblems;
  /** The entries that are newly skipped. */
  readonly skipped: readonly SiteProblem[];
}

/** The maximum delay with which the system reports a change. */
export const WATCH_DELAY_MS = 1000;

/**
 * Applies the changes of the sources to the store: reads all of them first, then writes them in one transaction.
 *
 * @throws RescanRequiredError when the sources must be scanned instead.
 */
export async function applyChanges(options: ApplyChangesOptions): Promise<AppliedChanges> {
  const looks = options.sources.map((live) => new SourceUpdate(live, options));
  try {
    return await applyAll(looks, options);
  } catch (error) {
    for (const look of looks) look.returnChanges();
    throw error;
  }
}

async function applyAll(looks: readonly SourceUpdate[], options: ApplyChangesOptions): Promise<AppliedChanges> {
  const { sources, store, content, signal } = options;
  const untilMs = Date.now() - TIMESTAMP_GRANULARITY_MS - WATCH_DELAY_MS;
  for (const look of looks) await look.findChanges();
  for (const look of looks) look.markLinkingFiles();
  for (const look of looks) if (look.content.hasUnread) await look.findChanges();
  await readAll(looks);
  signal.throwIfAborted();
  if (!sources.every(({ isInPlace }) => isInPlace)) throw new RescanRequiredError('A folder of the site was replaced.');
  const changed = looks.filter(({ changesAnything }) => changesAnything);
  if (changed.length > 0) {
    store.write((rows) => {
      for (const look of changed) look.write(rows, untilMs);
    });
  }
  const skipped = looks.flatMap((look) => look.finish());
  return { ...looks.map(({ counts }) => counts).reduce(add, NOTHING), problems: content.settle(), skipped };
}

const NOTHING: ChangeCounts = { added: 0, changed: 0, removed: 0, folders: 0 };

function add(one: ChangeCounts, other: ChangeCounts): ChangeCounts {
  return {
    added: one.added + other.added,
    changed: one.changed + other.changed,
    removed: one.removed + other.removed,
    folders: one.folders + other.folders,
  };
}

async function readAll(looks: readonly SourceUpdate[]): Promise<void> {
  const work = looks.map(({ work }) => work);
  const digesters = openDigesters({
    files: work.reduce((sum, { files }) => sum + files, 0),
    bytes: work.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  try {
    for (const look of looks) await look.read(digesters);
  } finally {
    await digesters.close();
  }
}

interface Looked {
  readonly walk: WalkResult;
  readonly starts: readonly WalkStart[];
  readonly plan: ChangePlan;
  readonly writer: EntryWriter;
}

/** The update of one source: finds its changes, reads the changed files and writes their records. */
class SourceUpdate {
  readonly content: SourceContent;
  counts: ChangeCounts = { added: 0, changed: 0, removed: 0, folders: 0 };
  readonly #live: WatchedSource;
  readonly #options: SourceUpdateOptions;
  readonly #dirty: ReadonlyMap<string, boolean>;
  #found: EntryProblem[] = [];
  readonly #links = new Set<string>();
  #looked: Looked | undefined;
  #writes: PlannedWrite[] = [];

  constructor(live: WatchedSource, options: SourceUpdateOptions) {
    this.#live = live;
    this.#options = options;
    this.content = options.content.of(live.source);
    const again = options.problems.of(live.source).filter(({ path, isName }) => path !== '' && !isName);
    this.#dirty = live.takeChanges(again.map(({ path }) => path));
  }

  get work(): Workload {
    if (this.#looked === undefined) return { files: 0, bytes: 0 };
    const { walk: found, plan } = this.#looked;
    return measureWork(found.entries, plan.writes, this.#options.late);
  }

  get changesAnything(): boolean {
    return this.#writes.length > 0 || (this.#looked?.plan.removals.length ?? 0) > 0;
  }

  /** Examines the changed paths, links, other hard links of changed files, and files to read again for their links. */
  async findChanges(): Promise<void> {
    const { listing, links, source } = this.#live;
    const awaited = this.content.hasUnread ? listing.entries.filter(({ path }) => this.content.mustRead(path)) : [];
    const also = new Set([...links, ...awaited.map(({ path }) => path)]);
    if (this.#dirty.size === 0 && also.size === 0) return;
    let found = await this.#walkAt(also);
    const names = this.#otherNames(found.walk);
    if (names.length > 0) found = await this.#walkAt(new Set([...also, ...names]));
    const { store } = this.#options;
    const plan = planChanges({ source, store, content: this.content, listing, ...found });
    if (plan === undefined) throw new RescanRequiredError('No free position between neighbouring records.');
    this.#looked = { walk: found.walk, starts: found.starts, plan, writer: createEntryWriter(source, found.walk) };
  }

  /** Marks the files that must be read again because they link to added or removed files. */
  markLinkingFiles(): void {
    const looked = this.#looked;
    if (looked) this.content.expect(() => getChangedPaths(looked.walk, looked.plan));
  }

  async read(digesters: Digesters): Promise<void> {
    if (this.#looked === undefined) return;
    const { walk: found, plan } = this.#looked;
    const { entries } = found;
    const onProblem = (problem: EntryProblem): void => void this.#found.push(problem);
    const from = { entries, root: this.#live.source.root, digesters, onProblem, late: this.#options.late };
    for await (const { writes } of digestWrites(from, plan.writes)) {
      this.#options.signal.throwIfAborted();
      const differing = writes.filter((write) => this.#differs(write, entries));
      await this.content.read(entries, differing);
      for (const write of differing) this.#writes.push(write);
    }
  }

  /** Whether a write changes the store. A file that is unchanged, or that is missing and was never stored, doesn't. */
  #differs({ index, inDoubt, digest, known }: PlannedWrite, entries: WalkEntries): boolean {
    const isThere = digest !== undefined || isFolder({ mode: entries.mode(index) });
    return (isThere || known !== undefined) && (!inDoubt || digest !== known?.digest);
  }

  /** @param untilMs All changes before this time have been read. */
  write(rows: RecordWriter, untilMs: number): void {
    if (this.#looked === undefined) return;
    const { walk: found, plan, writer } = this.#looked;
    recordWatchedUpdate(rows, this.#live.source, untilMs);
    this.content.noteStart(rows);
    for (const known of plan.removals) {
      writer.remove(rows, known);
      this.content.remove(rows, known.path);
    }
    for (const write of this.#writes) {
      writer.put(rows, write);
      this.content.put(rows, found.entries.path(write.index), write);
    }
  }

  /** Ends the update after its records are written. Returns the new problems. */
  finish(): SiteProblem[] {
    this.content.noteEnd();
    if (this.#looked === undefined) return [];
    this.#count(this.#looked);
    this.#live.listing = this.#listingOf(this.#looked);
    const unread = new Set(this.#found.map(({ path }) => path));
    for (const link of this.#live.links) if (isAtOrBelow(link, unread)) this.#links.add(link);
    this.#live.links = this.#links;
    return this.#options.problems.replace(this.#live.source, this.#found, this.#looked.starts);
  }

  returnChanges(): void {
    this.#live.returnChanges(this.#dirty);
  }

  async #walkAt(
    also: ReadonlySet<string>,
  ): Promise<{ walk: WalkResult; starts: WalkStart[]; implied: ReadonlySet<string> }> {
    const { source } = this.#live;
    const starts = this.#live.toStarts(new Map([...[...also].map((path) => [path, false] as const), ...this.#dirty]));
    const implied = new Set([...also].filter((path) => !this.#dirty.has(path)));
    this.#found = [];
    const onProblem = (problem: EntryProblem): void => void this.#found.push(problem);
    const observer = this.#live.observe(this.#links);
    const { signal } = this.#options;
    return { walk: await walk({ ...source, starts, observer, onProblem, signal }), starts, implied };
  }

  /**
   * Returns the other hard links of changed files, because the system reports only one name. It does not find a link
   * that was created and removed between two updates.
   */
  #otherNames({ entries }: WalkResult): string[] {
    const { listing, source } = this.#live;
    const numbers = new Set<number>();
    for (let index = 0; index < entries.length; index += 1) {
      const { nlink, ino } = entries.stats(index);
      if (nlink > 1 && !isFolder({ mode: entries.mode(index) })) numbers.add(ino);
    }
    for (const path of this.#dirty.keys()) {
      const listed = listing.find(path);
      const known = listed && findStoredEntry(this.#options.store, source, listed);
      if (known?.kind === 'File' && known.nlink > 1) numbers.add(known.ino);
    }
    if (numbers.size === 0) return [];
    return listing.entries.flatMap(({ path, ino }) => (numbers.has(ino) ? [path] : []));
  }

  /** Returns the listing without new entries that disappeared or turned out to be unreadable before they were read. */
  #listingOf({ walk: { entries }, plan, writer }: Looked): Listing {
    const written = new Set(this.#writes.map(({ index }) => index));
    const missing = plan.writes.filter(({ index, known }) => writer.gone.has(index) || (!known && !written.has(index)));
    if (missing.length === 0) return plan.listing;
    const paths = new Set(missing.map(({ index }) => entries.path(index)));
    return new Listing(plan.listing.entries.filter(({ path }) => !paths.has(path)));
  }

  #count({ walk: { entries }, plan, writer }: Looked): void {
    const counts = { added: 0, changed: 0, removed: 0, folders: 0 };
    for (const { kind } of plan.removals) counts[kind === 'File' ? 'removed' : 'folders'] += 1;
    for (const { index, known } of this.#writes) {
      const kind = isFolder({ mode: entries.mode(index) }) ? 'Directory' : 'File';
      if (writer.gone.has(index)) counts.removed += known ? 1 : 0;
      else if (kind === 'Directory') counts.folders += known?.kind === kind ? 0 : 1;
      else counts[known?.kind === kind ? 'changed' : 'added'] += 1;
    }
    this.counts = counts;
  }
}

/** Thrown when changes can't be applied one by one, because no position is free or a source's folder was replaced. */
export class RescanRequiredError extends Error {
  override readonly name = 'RescanRequiredError';
}
