import type { RecordStore } from '../record-store.js';
import { getPositionRange } from './positions.js';
import type { SiteSource } from './site-source.js';

/** A stored file or folder of a source. */
export interface ListedEntry {
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

/** Whether a path is one of `paths` or below one of them. */
export function isAtOrBelow(path: string, paths: ReadonlySet<string>): boolean {
  if (paths.has('') || paths.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}
