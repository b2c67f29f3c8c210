import { statSync } from 'node:fs';
import path from 'node:path';

import type { RecordStore } from './record-store.js';
import { isExcludedPath } from './sources/exclusions.js';
import { isAtOrBelow, readListing } from './sources/listing.js';
import type { Listing } from './sources/listing.js';
import type { SiteSource } from './sources/site-source.js';
import type { WalkObserver, WalkStart } from './sources/walk.js';
import { createFolderWatcher } from './watch-folders.js';
import type { FolderWatcher, FolderWatcherOptions } from './watch-folders.js';

export interface LiveSourceOptions extends Pick<FolderWatcherOptions, 'queue' | 'onLost'> {
  readonly source: SiteSource;
  readonly store: RecordStore;
  /** Something is to be looked at. */
  readonly onDirty: () => void;
  readonly onRefused: (path: string, code: string) => void;
}

/** What is watched of a source, and what is to be looked at again. */
export class LiveSource {
  readonly source: SiteSource;
  /** Links, also those left out: each may change with its target. */
  links: ReadonlySet<string> = new Set();
  readonly #options: LiveSourceOptions;
  readonly #watcher: FolderWatcher;
  /** Paths to look at, and whether with all that is below them. */
  #dirty = new Map<string, boolean>();
  #listing: Listing | undefined;
  #root: string | undefined;

  constructor(options: LiveSourceOptions) {
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

  /** What the store holds of the source; read when it is first needed. */
  get listing(): Listing {
    return (this.#listing ??= readListing(this.#options.store, this.source));
  }

  set listing(listing: Listing) {
    this.#listing = listing;
  }

  /** Whether the folder that is watched is still where it was. */
  get isInPlace(): boolean {
    return this.#root !== undefined && this.#root === identityOf(this.source.root);
  }

  get exists(): boolean {
    return identityOf(this.source.root) !== undefined;
  }

  /** Forgets all, before the whole source is walked. */
  reset(): WalkObserver {
    this.#watcher.close();
    this.#dirty.clear();
    this.#listing = undefined;
    this.#root = identityOf(this.source.root);
    const links = new Set<string>();
    this.links = links;
    return { folder: (folder) => this.#watcher.add(folder), link: (link) => links.add(link) };
  }

  /** Sees links and watches folders while starts are walked; `links` are those met. */
  observe(links: Set<string>): WalkObserver {
    return { folder: (folder) => this.#watcher.add(folder), link: (link) => links.add(link) };
  }

  /** Looks at it again with the next change. */
  giveBack(paths: ReadonlyMap<string, boolean>): void {
    for (const [changed, deep] of paths) this.#dirty.set(changed, deep || (this.#dirty.get(changed) ?? false));
  }

  /** @param again Paths that are looked at again in any case, with all below. */
  take(again: readonly string[]): ReadonlyMap<string, boolean> {
    this.giveBack(new Map(again.map((path) => [path, true])));
    const dirty = this.#dirty;
    this.#dirty = new Map();
    return dirty;
  }

  /** Where to look for these changes: none below another that is deep. Folders that may be others are watched anew. */
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

  /** A folder that the store has not, for what is in it can't be placed without it. */
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
    else this.giveBack(new Map([[changed, isName], ...(isName ? [[parentOf(changed), false] as const] : [])]));
    this.#options.onDirty();
  }

  #isLeftOut(changed: string): boolean {
    const { root, except, exclude } = this.source;
    if (except.includes(path.posix.join(root, changed))) return true;
    // Its type is unknown here. The walk checks again; the rules for folders are the wider ones.
    return isExcludedPath(changed, exclude, true);
  }
}

/** Node shows bytes that are no text so, and finds no file of that name; listing the folder tells what they are. */
function isBroken(name: string): boolean {
  return name.includes('\uFFFD');
}

function parentOf(below: string): string {
  return below.slice(0, Math.max(0, below.lastIndexOf('/')));
}

/** `undefined` when there is no folder. */
function identityOf(root: string): string | undefined {
  const stats = statSync(root, { throwIfNoEntry: false });
  return stats?.isDirectory() ? `${stats.dev} ${stats.ino}` : undefined;
}
