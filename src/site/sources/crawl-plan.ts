import { isFolder, isUntouched } from './entries.js';
import type { Witness } from './entries.js';
import { END, freshPosition, GAP, givePositions } from './positions.js';
import type { Walk } from './walk.js';

/** What the store holds of a file or folder. */
export interface KnownEntry extends Witness {
  readonly kind: 'File' | 'Directory';
  readonly path: string;
  readonly id: string;
  /** From the first of its source. */
  readonly position: number;
  readonly digest: string;
}

/** A record to make. Those of files without a digest need the file read first. */
export interface PlannedWrite {
  readonly index: number;
  readonly position: number;
  /** The number of positions from here to the next entry. */
  readonly room: number;
  readonly digest: string | undefined;
  /** The record that the store has at this path. */
  readonly known: KnownEntry | undefined;
  /** Whether `known` may stay as it is if the file turns out to have its digest. */
  readonly inDoubt: boolean;
}

export interface CrawlPlan {
  readonly removals: readonly KnownEntry[];
  /** In the order of paths. */
  readonly writes: readonly PlannedWrite[];
}

export interface Memory {
  /** By relative path. */
  readonly known: ReadonlyMap<string, KnownEntry>;
  /** Whether records made by the last crawl look as this one would make them. */
  readonly sameMaker: boolean;
  /** Digests of files changed at this time or later (milliseconds since 1970) are not trusted. */
  readonly trustedUntil: number;
  /** The least position of the source. */
  readonly firstPosition: number;
  readonly content?: ContentMemory | undefined;
}

/** What is known of the records that come from the text of files. */
export interface ContentMemory {
  /** Whether a file is to be read though nothing says that it changed. */
  mustRead(path: string): boolean;
  /** How many positions the records of a file take, as far as is known. */
  roomOf(path: string): number;
}

/** What to write and remove so that the store holds what the walk found. */
export function planCrawl(walk: Walk, memory: Memory): CrawlPlan {
  const order = inPathOrder(walk);
  const paths = order.map((index) => walk.entries.path(index));
  const positions = memory.sameMaker ? givePositions(paths.map((path) => memory.known.get(path)?.position)) : undefined;
  if (positions === undefined || !haveRoom(paths, positions, memory)) return startOver(walk, memory, order);
  const left = new Map(memory.known);
  const writes = order.flatMap((index, place) => {
    const known = memory.known.get(paths[place] ?? '');
    left.delete(paths[place] ?? '');
    const position = memory.firstPosition + (positions[place] ?? 0);
    return planEntry({ walk, memory, index, position, room: roomAt(positions, place), known }) ?? [];
  });
  return { removals: [...left.values()], writes };
}

/** Where a file or folder is new, or gone, or not what it was; of one that is numbered anew nothing is known. */
export function changedPaths({ entries }: Walk, { removals, writes }: CrawlPlan): ReadonlySet<string> {
  const changed = new Set(removals.map(({ path }) => path));
  for (const { index, known } of writes) {
    const isSame = known && isFolder({ mode: entries.mode(index) }) === (known.kind === 'Directory');
    if (!isSame) changed.add(entries.path(index));
  }
  return changed;
}

function haveRoom(paths: readonly string[], positions: readonly number[], { content }: Memory): boolean {
  return content === undefined || paths.every((path, place) => content.roomOf(path) <= roomAt(positions, place));
}

function roomAt(positions: readonly number[], place: number): number {
  return (positions[place + 1] ?? END) - (positions[place] ?? 0);
}

/** By UTF-16 code unit, which is how JavaScript compares text. */
function inPathOrder({ entries, gone }: Walk): number[] {
  const paths = entries.paths;
  const order = Array.from({ length: entries.length }, (_, index) => index).filter((index) => !gone.has(index));
  return order.sort((one, other) => ((paths[one] ?? '') < (paths[other] ?? '') ? -1 : 1));
}

function planEntry(entry: {
  walk: Walk;
  memory: Memory;
  index: number;
  position: number;
  room: number;
  known: KnownEntry | undefined;
}): PlannedWrite | undefined {
  const { memory, index, position, room, known } = entry;
  const stats = entry.walk.entries.stats(index);
  const write = { index, position, room, digest: undefined, known, inDoubt: false };
  const sameKind = known !== undefined && isFolder(stats) === (known.kind === 'Directory');
  if (!sameKind || !isUntouched(stats, known)) return write;
  if (isFolder(stats)) return undefined;
  const mustRead = memory.content?.mustRead(known.path) ?? false;
  if (isTrusted(known, memory)) return mustRead ? { ...write, digest: known.digest } : undefined;
  return { ...write, inDoubt: !mustRead };
}

/** Every record is made anew, at a new position, with the digests that still hold. */
function startOver({ entries }: Walk, memory: Memory, order: readonly number[]): CrawlPlan {
  const writes = order.map((index, place): PlannedWrite => {
    const known = memory.known.get(entries.path(index));
    const holds = known?.kind === 'File' && isUntouched(entries.stats(index), known) && isTrusted(known, memory);
    const digest = holds ? known.digest : undefined;
    const position = memory.firstPosition + freshPosition(place);
    return { index, position, room: GAP, digest, known: undefined, inDoubt: false };
  });
  return { removals: [...memory.known.values()], writes };
}

function isTrusted(known: KnownEntry, { trustedUntil }: Memory): boolean {
  return known.ctimeMs < trustedUntil;
}
