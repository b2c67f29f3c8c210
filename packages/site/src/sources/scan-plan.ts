import { findPendingFile } from './digests/large-file-digests.js';
import { type FileFingerprint, isFolder, isUnchangedFile } from './entries.js';
import { assignPositions, nextPosition, POSITION_GAP, POSITIONS_PER_SOURCE } from './positions.js';
import type { WalkResult } from './walk.js';

/** A stored file or folder. */
export interface StoredEntry extends FileFingerprint {
  readonly kind: 'File' | 'Directory';
  readonly path: string;
  readonly id: string;
  /** Relative to the first position of its source. */
  readonly position: number;
  readonly digest: string;
}

/** A record to write. A file without a digest must be read first. */
export interface PlannedWrite {
  readonly index: number;
  readonly position: number;
  /** The number of positions from here to the next entry. */
  readonly room: number;
  readonly digest: string | undefined;
  /** The stored record at this path. */
  readonly known: StoredEntry | undefined;
  /** Whether `known` stays unchanged if the file turns out to have the same digest. */
  readonly inDoubt: boolean;
}

export interface ScanPlan {
  readonly removals: readonly StoredEntry[];
  /** Sorted by path. */
  readonly writes: readonly PlannedWrite[];
}

export interface ScanMemory {
  /** The stored entries by relative path. */
  readonly known: ReadonlyMap<string, StoredEntry>;
  /** Whether the last scan used the same record format and source configuration. */
  readonly sameMaker: boolean;
  /** Digests of files that changed at this time (in milliseconds since 1970) or later are not trusted. */
  readonly trustedUntil: number;
  /** The first position of the source. */
  readonly firstPosition: number;
  readonly content?: ContentMemory;
}

/** Information about the records in the text of files. */
export interface ContentMemory {
  /** Whether a file must be read although it did not change. */
  mustRead(path: string): boolean;
  /** Returns the known number of positions that the records of a file take. */
  roomOf(path: string): number;
}

/** Plans the writes and removals that bring the store in line with a walk. */
export function planScan(walk: WalkResult, memory: ScanMemory): ScanPlan {
  const order = inPathOrder(walk);
  const paths = order.map((index) => walk.entries.path(index));
  const positions = memory.sameMaker
    ? assignPositions(paths.map((path) => memory.known.get(path)?.position))
    : undefined;
  if (positions === undefined || !haveRoom(paths, positions, memory)) return planRenumbering(walk, memory, order);
  const left = new Map(memory.known);
  const writes = order.flatMap((index, place) => {
    const known = memory.known.get(paths[place] ?? '');
    left.delete(paths[place] ?? '');
    const position = memory.firstPosition + (positions[place] ?? 0);
    return planEntry({ walk, memory, index, position, room: roomAt(positions, place), known }) ?? [];
  });
  return { removals: [...left.values()], writes };
}

/** Returns the paths of files and folders that were added, removed, replaced or renumbered. */
export function getChangedPaths({ entries }: WalkResult, { removals, writes }: ScanPlan): ReadonlySet<string> {
  const changed = new Set(removals.map(({ path }) => path));
  for (const { index, known } of writes) {
    const isSame = known && isFolder({ mode: entries.mode(index) }) === (known.kind === 'Directory');
    if (!isSame) changed.add(entries.path(index));
  }
  return changed;
}

function haveRoom(paths: readonly string[], positions: readonly number[], { content }: ScanMemory): boolean {
  return content === undefined || paths.every((path, place) => content.roomOf(path) <= roomAt(positions, place));
}

function roomAt(positions: readonly number[], place: number): number {
  return (positions[place + 1] ?? POSITIONS_PER_SOURCE) - (positions[place] ?? 0);
}

/** Sorts by UTF-16 code unit, as JavaScript compares strings. */
function inPathOrder({ entries, gone }: WalkResult): number[] {
  const paths = entries.paths;
  const order = Array.from({ length: entries.length }, (_, index) => index).filter((index) => !gone.has(index));
  return order.sort((one, other) => ((paths[one] ?? '') < (paths[other] ?? '') ? -1 : 1));
}

function planEntry(entry: {
  walk: WalkResult;
  memory: ScanMemory;
  index: number;
  position: number;
  room: number;
  known: StoredEntry | undefined;
}): PlannedWrite | undefined {
  const { memory, index, position, room, known } = entry;
  const stats = entry.walk.entries.stats(index);
  const write = { index, position, room, digest: undefined, known, inDoubt: false };
  const sameKind = known !== undefined && isFolder(stats) === (known.kind === 'Directory');
  if (!sameKind || !isUnchangedFile(stats, known)) return write;
  if (isFolder(stats)) return undefined;
  const mustRead = memory.content?.mustRead(known.path) ?? false;
  if (findPendingFile(known.digest) !== undefined) return write;
  if (isTrusted(known, memory)) return mustRead ? { ...write, digest: known.digest } : undefined;
  return { ...write, inDoubt: !mustRead };
}

/** Plans to write every record again at a new position, reusing trusted digests. */
function planRenumbering({ entries }: WalkResult, memory: ScanMemory, order: readonly number[]): ScanPlan {
  const writes = order.map((index, place): PlannedWrite => {
    const known = memory.known.get(entries.path(index));
    const isValid = known?.kind === 'File' && isUnchangedFile(entries.stats(index), known) && isTrusted(known, memory);
    const digest = isValid && findPendingFile(known.digest) === undefined ? known.digest : undefined;
    const position = memory.firstPosition + nextPosition(place);
    return { index, position, room: POSITION_GAP, digest, known: undefined, inDoubt: false };
  });
  return { removals: [...memory.known.values()], writes };
}

function isTrusted(known: StoredEntry, { trustedUntil }: ScanMemory): boolean {
  return known.ctimeMs < trustedUntil;
}
