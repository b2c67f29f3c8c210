import { statSync } from 'node:fs';
import path from 'node:path';
import type { RecordStore } from '../record-store.js';
import { isExcludedPath } from '../sources/exclusions.js';
import { isAtOrBelow } from '../sources/problems.js';
import type { SiteSource } from '../sources/site-sources.js';
import type { WalkObserver, WalkStart } from '../sources/walk.js';
import { createFolderWatcher, type FolderWatcher, type FolderWatcherOptions } from './folder-watcher.js';
import { type Listing, readListing } from './plan-changes.js';

export interface WatchedSourceOptions extends Pick<FolderWatcherOptions, 'queue' | 'onLost'> {
  readonly source: SiteSource;
  readonly store: RecordStore;
  /** Called when a path has to be examined. */
  readonly onDirty: () => void;
  readonly onRefused: (path: string, code: string) => void;
}

/** A source with its watched folders and the changed paths that the next update examines. */
export class WatchedSource {
  readonly source: SiteSource;
  /** The links of the source, including ignored ones, because each may change with its target. */
  links: ReadonlySet<string> = new Set();
  readonly #options: WatchedSourceOptions;
  readonly #watcher: FolderWatcher;
  /** The paths to examine, each with whether that includes everything below it. */
  #dirty = new Map<string, boolean>();
  #listing: Listing | undefined;
  #root: string | undefined;

  constructor(options: WatchedSourceOptions) {
    const { source, queue, onLost, onRefused } = options;
    this.source = source;
    this.#options = options;
    this.#watcher = createFolderWatcher({
      root: source.root,
      queue,
      onLost,
      onRefused,
      onChange: (changed, isName) => this.#note(changed, isName),
    });
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** The stored entries of the source, read on first access. */
  get listing(): Listing {
    return (this.#listing ??= readListing(this.#options.store, this.source));
  }

  set listing(listing: Listing) {
    this.#listing = listing;
  }

  /** Whether the path of the source still leads to the watched folder. */
  get isInPlace(): boolean {
    return this.#root !== undefined && this.#root === identityOf(this.source.root);
  }

  get exists(): boolean {
    return identityOf(this.source.root) !== undefined;
  }

  /** Discards all state before a scan of the whole source. */
  reset(): WalkObserver {
    this.#watcher.close();
    this.#dirty.clear();
    this.#listing = undefined;
    this.#root = identityOf(this.source.root);
    const links = new Set<string>();
    this.links = links;
    return { folder: (folder) => this.#watcher.add(folder), link: (link) => links.add(link) };
  }

  /** Returns an observer that watches the folders of a walk and adds its links to `links`. */
  observe(links: Set<string>): WalkObserver {
    return { folder: (folder) => this.#watcher.add(folder), link: (link) => links.add(link) };
  }

  /** Returns paths to the set that the next update examines. */
  returnChanges(paths: ReadonlyMap<string, boolean>): void {
    for (const [changed, deep] of paths) this.#dirty.set(changed, deep || (this.#dirty.get(changed) ?? false));
  }

  /**
   * Removes and returns the paths to examine.
   *
   * @param again Paths to include in any case, with everything below them.
   */
  takeChanges(again: readonly string[]): ReadonlyMap<string, boolean> {
    this.returnChanges(new Map(again.map((path) => [path, true])));
    const dirty = this.#dirty;
    this.#dirty = new Map();
    return dirty;
  }

  /** Returns the starts of a walk for changes, none of them below a deep one. Deep folders are watched again. */
  toStarts(dirty: ReadonlyMap<string, boolean>): WalkStart[] {
    const wanted = new Map<string, boolean>();
    for (const [changed, deep] of dirty) {
      const top = this.#topmostUnknown(changed);
      const isNew = this.listing.find(top) === undefined;
      wanted.set(top, deep || isNew || (wanted.get(top) ?? false));
    }
    const deep = new Set([...wanted].flatMap(([start, isDeep]) => (isDeep ? [start] : [])));
    this.#watcher.forget(deep);
    return [...wanted]
      .filter(([start]) => start === '' || !isAtOrBelow(parentOf(start), deep))
      .map(([start, isDeep]) => ({ path: start, deep: isDeep }));
  }

  close(): void {
    this.#watcher.close();
  }

  /** Returns the topmost folder that has no record, because its contents can't be placed without it. */
  #topmostUnknown(changed: string): string {
    for (let end = changed.indexOf('/'); end > 0; end = changed.indexOf('/', end + 1)) {
      const folder = changed.slice(0, end);
      if (this.listing.find(folder) === undefined) return folder;
    }
    return changed;
  }

  #note(changed: string, isName: boolean): void {
    if (isBroken(changed)) this.#dirty.set(parentOf(changed), true);
    else if (this.#isLeftOut(changed)) return;
    else this.returnChanges(new Map([[changed, isName], ...(isName ? [[parentOf(changed), false] as const] : [])]));
    this.#options.onDirty();
  }

  #isLeftOut(changed: string): boolean {
    const { root, except, exclude } = this.source;
    if (except.includes(path.posix.join(root, changed))) return true;
    // The type is unknown here. The rules for folders cover more, and the walk checks again.
    return isExcludedPath(changed, exclude, true);
  }
}

/** Node.js replaces bytes that are not UTF-8 by U+FFFD and can't open such a name; a listing returns the bytes. */
function isBroken(name: string): boolean {
  return name.includes('\uFFFD');
}

function parentOf(below: string): string {
  return below.slice(0, Math.max(0, below.lastIndexOf('/')));
}

/** Returns the device and inode of a folder, or `undefined` if there is no folder. */
function identityOf(root: string): string | undefined {
  const stats = statSync(root, { throwIfNoEntry: false });
  return stats?.isDirectory() ? `${stats.dev} ${stats.ino}` : undefined;
}
