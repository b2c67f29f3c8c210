import { type FSWatcher, readFileSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import type { RecordStore } from '../record-store.js';
import { getErrorCode, isMissingFileError } from '../sources/entries.js';
import { isAtOrBelow } from '../sources/problems.js';
import { isExcludedPath, type SiteSource } from '../sources/site-sources.js';
import type { WalkObserver, WalkStart } from '../sources/walk.js';
import { type Listing, readListing } from './plan-changes.js';

interface WatchedSourceOptions extends Pick<FolderWatcherOptions, 'queue' | 'onLost'> {
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

/**
 * Watches folders below a root individually, so that a new folder is watched before it is listed for the first time.
 */
interface FolderWatcher {
  /** Watches a folder unless it is already watched or was deleted. */
  add(path: string): void;
  has(path: string): boolean;
  /** Stops watching these folders and all folders below them, because they may have been replaced. */
  forget(paths: ReadonlySet<string>): void;
  close(): void;
}

interface FolderWatcherOptions {
  /** A real absolute path. */
  readonly root: string;
  /** Shared by all watchers, like the system's event queue. */
  readonly queue: OverflowDetector;
  /** Called when a path changed; with `isName`, an entry was created, deleted or replaced. */
  readonly onChange: (path: string, isName: boolean) => void;
  /** Called when the system reports missed changes. */
  readonly onLost: () => void;
  /** Called with the system's error code when a folder can't be watched. */
  readonly onRefused: (path: string, code: string) => void;
}

/**
 * Linux can't watch a whole tree, and the emulation in Node.js watches each file and misses folders created quickly.
 */
const WHOLE_TREES = process.platform === 'darwin' || process.platform === 'win32';

function createFolderWatcher(options: FolderWatcherOptions): FolderWatcher {
  return WHOLE_TREES ? new TreeWatcher(options) : new EachFolderWatcher(options);
}

class EachFolderWatcher implements FolderWatcher {
  readonly #options: FolderWatcherOptions;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(options: FolderWatcherOptions) {
    this.#options = options;
  }

  has(path: string): boolean {
    return this.#watchers.has(path);
  }

  add(path: string): void {
    const { root, queue, onChange, onRefused } = this.#options;
    if (this.#watchers.has(path)) return;
    const prefix = path === '' ? '' : `${path}/`;
    try {
      const watcher = watch(path === '' ? root : `${root}/${path}`, { persistent: false }, (event, name) => {
        queue.count();
        onChange(name === null ? path : prefix + name, event === 'rename');
      });
      watcher.on('error', () => onChange(path, true));
      this.#watchers.set(path, watcher);
    } catch (error) {
      const code = getErrorCode(error);
      // Listing the folder fails too and reports the problem.
      if (!isMissingFileError(error) && code !== 'EACCES') onRefused(path, code);
    }
  }

  forget(paths: ReadonlySet<string>): void {
    if (![...paths].some((path) => this.#watchers.has(path))) return;
    for (const [path, watcher] of this.#watchers) {
      if (!isAtOrBelow(path, paths)) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}

/** Watches a whole tree with one watch of the system. */
class TreeWatcher implements FolderWatcher {
  readonly #options: FolderWatcherOptions;
  #watcher: FSWatcher | undefined;

  constructor(options: FolderWatcherOptions) {
    this.#options = options;
  }

  has(): boolean {
    return false;
  }

  add(path: string): void {
    const { root, onChange, onLost, onRefused } = this.#options;
    if (path !== '' || this.#watcher) return;
    try {
      this.#watcher = watch(root, { persistent: false, recursive: true }, (_event, name) => {
        if (name === null) onLost();
        else onChange(name.replaceAll('\\', '/'), true);
      });
      this.#watcher.on('error', onLost);
    } catch (error) {
      onRefused(path, getErrorCode(error));
    }
  }

  forget(): void {
    // The watch of the tree includes replaced folders.
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

/**
 * Detects a possible overflow of the system's event queue, which Node.js does not report. After an overflow, one turn
 * of the event loop receives as many events as the queue can contain.
 */
export class OverflowDetector {
  readonly #limit = queueLimit();
  readonly #onFull: () => void;
  #inThisTurn = 0;

  constructor(onFull: () => void) {
    this.#onFull = onFull;
  }

  count(): void {
    this.#inThisTurn += 1;
    if (this.#inThisTurn === 1) setImmediate(() => (this.#inThisTurn = 0));
    if (this.#inThisTurn === this.#limit) this.#onFull();
  }
}

/** The default limit of Linux. */
const USUAL_LIMIT = 16_384;

function queueLimit(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || USUAL_LIMIT;
  } catch {
    return USUAL_LIMIT;
  }
}
