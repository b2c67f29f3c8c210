import type { RecordStore } from '../record-store.js';
import { isFolder, STAT_FIELDS, type StatNumbers, TIMESTAMP_GRANULARITY_MS } from '../sources/entries.js';
import {
  type ContentMemory,
  findStoredEntry,
  type PlannedWrite,
  type ScanPlan,
  type StoredEntry,
} from '../sources/scan-plan.js';
import {
  assignPositions,
  getPositionRange,
  MAX_ENTRIES,
  POSITIONS_PER_SOURCE,
  type SiteSource,
} from '../sources/site-sources.js';
import { tooManyEntriesError, type WalkResult, type WalkStart } from '../sources/walk.js';

/** The result of walking the changed paths of a source, and the stored state of the source. */
interface WalkedChanges {
  readonly source: SiteSource;
  readonly store: RecordStore;
  readonly content: ContentMemory;
  readonly listing: Listing;
  readonly walk: WalkResult;
  /** The starts of the walk, none of them below a deep one. */
  readonly starts: readonly WalkStart[];
  /** Starts without a reported change, which were examined because they may be other names of changed files. */
  readonly implied: ReadonlySet<string>;
}

export interface ChangePlan extends ScanPlan {
  /** The listing of the source after the plan is applied. */
  readonly listing: Listing;
}

/**
 * Plans the writes and removals that bring the store in line with the walk. Returns `undefined` if there are too few
 * free positions for new entries.
 *
 * @throws AppError `unprocessable` when there would be too many entries.
 */
export function planChanges(look: WalkedChanges): ChangePlan | undefined {
  const found = foundPaths(look.walk);
  const gone = findGone(look, found);
  const next = mergeListing(look, found, gone);
  if (next === undefined) return undefined;
  const removals = gone.flatMap((entry) => findStoredEntry(look.store, look.source, entry) ?? []);
  const writes = [...found.keys()]
    .sort(byCodeUnit)
    .flatMap((path) => planWrite(look, next, found.get(path) ?? 0) ?? []);
  return { removals, writes, listing: next };
}

function foundPaths({ entries, gone }: WalkResult): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, path] of entries.paths.entries()) if (!gone.has(index)) found.set(path, index);
  return found;
}

function findGone(
  { listing, starts, walk: { entries } }: WalkedChanges,
  found: ReadonlyMap<string, number>,
): ListedEntry[] {
  return starts.flatMap(({ path, deep }) => {
    const index = found.get(path);
    const isOnlyItself = index !== undefined && !deep && isFolder({ mode: entries.mode(index) });
    if (isOnlyItself) return [];
    return listing.atAndBelow(path).filter((entry) => !found.has(entry.path));
  });
}

/** Returns the new listing, in which existing entries keep their positions and new ones get positions between them. */
function mergeListing(
  { listing, walk: { entries }, content }: WalkedChanges,
  found: ReadonlyMap<string, number>,
  gone: readonly ListedEntry[],
): Listing | undefined {
  const fresh = [...found.keys()].filter((path) => listing.find(path) === undefined).sort(byCodeUnit);
  const kept = without(listing.entries, gone);
  const merged = fresh.length === 0 ? [...kept] : place(kept, fresh, content);
  if (merged === undefined) return undefined;
  const next = new Listing(merged);
  for (const [path, index] of found) {
    const at = next.indexOf(path);
    const entry = merged[at];
    const { ino } = entries.stats(index);
    if (entry && entry.ino !== ino) merged[at] = { ...entry, ino };
  }
  return next;
}

function without(entries: readonly ListedEntry[], gone: readonly ListedEntry[]): readonly ListedEntry[] {
  if (gone.length === 0) return entries;
  const paths = new Set(gone.map(({ path }) => path));
  return entries.filter(({ path }) => !paths.has(path));
}

/**
 * Assigns positions to new paths between the existing entries. Returns `undefined` if there are too few free positions.
 */
function place(
  kept: readonly ListedEntry[],
  fresh: readonly string[],
  content: ContentMemory,
): ListedEntry[] | undefined {
  const merged = merge(kept, fresh);
  if (merged.length > MAX_ENTRIES) throw tooManyEntriesError();
  const positions = assignPositions(merged.map((entry) => (typeof entry === 'string' ? undefined : entry.position)));
  if (positions === undefined) return undefined;
  const placed = merged.map((entry, at) =>
    typeof entry === 'string' ? { path: entry, position: positions[at] ?? 0, ino: 0 } : entry,
  );
  const isTight = merged.some((entry, at) => {
    const before = placed[at - 1];
    return typeof entry === 'string' && before && content.roomOf(before.path) > (positions[at] ?? 0) - before.position;
  });
  return isTight ? undefined : placed;
}

function merge(kept: readonly ListedEntry[], fresh: readonly string[]): (ListedEntry | string)[] {
  const merged: (ListedEntry | string)[] = [];
  let next = 0;
  for (const path of fresh) {
    for (let entry = kept[next]; entry && entry.path < path; entry = kept[next]) {
      merged.push(entry);
      next += 1;
    }
    merged.push(path);
  }
  return merged.concat(kept.slice(next));
}

function planWrite(
  { source, store, content, listing, walk, implied }: WalkedChanges,
  next: Listing,
  index: number,
): PlannedWrite | undefined {
  const stats = walk.entries.stats(index);
  const path = walk.entries.path(index);
  const listed = listing.find(path);
  const known = listed && findStoredEntry(store, source, listed);
  const at = next.indexOf(path);
  const offset = next.entries[at]?.position ?? 0;
  const position = getPositionRange(source.place).from + offset;
  const room = (next.entries[at + 1]?.position ?? POSITIONS_PER_SOURCE) - offset;
  const write = { index, position, room, digest: undefined, known, inDoubt: false };
  const isSameKind = known !== undefined && isFolder(stats) === (known.kind === 'Directory');
  if (!isSameKind || !isSame(stats, known)) return write;
  if (isFolder(stats)) return undefined;
  const mustRead = content.mustRead(path);
  const isSettled = implied.has(path) && stats.ctimeMs < Date.now() - 2 * TIMESTAMP_GRANULARITY_MS;
  if (isSettled) return mustRead ? { ...write, digest: known.digest } : undefined;
  // The file may have changed within the same tick of the file system's clock, which its stats don't show.
  return { ...write, inDoubt: !mustRead };
}

/** Compares all stat numbers except the time of access, which reading changes. */
function isSame(now: StatNumbers, then: StoredEntry & StatNumbers): boolean {
  return STAT_FIELDS.every((field) => field === 'atimeMs' || now[field] === then[field]);
}

function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : 1;
}

/** A stored file or folder of a source. */
interface ListedEntry {
  readonly path: string;
  /** Relative to the first position of its source. */
  readonly position: number;
  readonly ino: number;
}

/** The stored files and folders of a source, sorted by path. An entry takes about 30 bytes in addition to its path. */
export class Listing {
  readonly entries: readonly ListedEntry[];

  constructor(entries: readonly ListedEntry[]) {
    this.entries = entries;
  }

  find(path: string): ListedEntry | undefined {
    return this.entries[this.indexOf(path)];
  }

  /** Returns -1 for a path that is not listed. */
  indexOf(path: string): number {
    const index = this.#firstFrom(path);
    return this.entries[index]?.path === path ? index : -1;
  }

  /** Returns the entries at and below a path. */
  atAndBelow(path: string): readonly ListedEntry[] {
    if (path === '') return this.entries;
    const own = this.find(path);
    // The character "0" is the next after "/".
    const below = this.entries.slice(this.#firstFrom(`${path}/`), this.#firstFrom(`${path}0`));
    return own ? [own, ...below] : below;
  }

  /** Returns the index of the first entry whose path is equal to this one or follows it. */
  #firstFrom(path: string): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.entries[middle]?.path ?? '') < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function readListing(store: RecordStore, { place }: SiteSource): Listing {
  const range = getPositionRange(place);
  const entries: ListedEntry[] = [];
  for (const kind of ['Directory', 'File']) {
    for (const { relativePath, position, ino } of store.rows(kind, ['relativePath', 'ino'], range)) {
      entries.push({ path: String(relativePath), position: Number(position) - range.from, ino: Number(ino) });
    }
  }
  return new Listing(entries.sort((one, other) => one.position - other.position));
}
