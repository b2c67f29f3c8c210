import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { getErrorCode, isMissingFileError } from '../sources/file-errors.js';
import { isAtOrBelow } from '../sources/problems.js';

/**
 * Watches folders below a root individually, so that a new folder is watched before it is listed for the first time.
 */
export interface FolderWatcher {
  /** Watches a folder unless it is already watched or was deleted. */
  add(path: string): void;
  has(path: string): boolean;
  /** Stops watching these folders and all folders below them, because they may have been replaced. */
  forget(paths: ReadonlySet<string>): void;
  close(): void;
}

export interface FolderWatcherOptions {
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

export function createFolderWatcher(options: FolderWatcherOptions): FolderWatcher {
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
