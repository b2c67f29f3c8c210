import { isFolder, isUntouched } from './entries.js';
import type { Witness } from './entries.js';
import { freshPosition, givePositions } from './positions.js';
import type { Walk } from './walk.js';

/** What the store holds of a file or folder. */
export interface KnownEntry extends Witness {
  readonly kind: 'File' | 'Directory';
  readonly path: string;
  readonly id: string;
  readonly position: number;
  readonly digest: string;
}

/** A record to make. Those of files without a digest need the file read first. */
export interface PlannedWrite {
  readonly index: number;
  readonly position: number;
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
}

/** What to write and remove so that the store holds what the walk found. */
export function planCrawl(walk: Walk, memory: Memory): CrawlPlan {
  const order = inPathOrder(walk);
  const paths = order.map((index) => walk.entries.path(index));
  const positions = memory.sameMaker ? givePositions(paths.map((path) => memory.known.get(path)?.position)) : undefined;
  if (positions === undefined) return startOver(walk, memory, order);
  const left = new Map(memory.known);
  const writes = order.flatMap((index, place) => {
    const known = memory.known.get(paths[place] ?? '');
    left.delete(paths[place] ?? '');
    return planEntry({ walk, memory, index, position: positions[place] ?? 0, known }) ?? [];
  });
  return { removals: [...left.values()], writes };
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
  known: KnownEntry | undefined;
}): PlannedWrite | undefined {
  const { index, position, known } = entry;
  const stats = entry.walk.entries.stats(index);
  const write = { index, position, digest: undefined, known, inDoubt: false };
  const sameKind = known !== undefined && isFolder(stats) === (known.kind === 'Directory');
  if (!sameKind || !isUntouched(stats, known)) return write;
  return isFolder(stats) || isTrusted(known, entry.memory) ? undefined : { ...write, inDoubt: true };
}

/** Every record is made anew, at a new position, with the digests that still hold. */
function startOver({ entries }: Walk, memory: Memory, order: readonly number[]): CrawlPlan {
  const writes = order.map((index, place): PlannedWrite => {
    const known = memory.known.get(entries.path(index));
    const holds = known?.kind === 'File' && isUntouched(entries.stats(index), known) && isTrusted(known, memory);
    const digest = holds ? known.digest : undefined;
    return { index, position: freshPosition(place), digest, known: undefined, inDoubt: false };
  });
  return { removals: [...memory.known.values()], writes };
}

function isTrusted(known: KnownEntry, { trustedUntil }: Memory): boolean {
  return known.ctimeMs < trustedUntil;
}
