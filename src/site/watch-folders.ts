import { readFileSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';

import { isAtOrBelow } from './sources/listing.js';
import { errorCode, isGone } from './sources/unreadable.js';

/** Watches folders below a root, each on its own, so that a new one is watched before it is first listed. */
export interface FolderWatcher {
  /** Watches a folder; nothing when it is watched already, or gone. */
  add(path: string): void;
  has(path: string): boolean;
  /** Stops watching these folders and all below them: another folder may be in their place. */
  forget(paths: ReadonlySet<string>): void;
  close(): void;
}

export interface FolderWatcherOptions {
  /** Absolute, without links on the way. */
  readonly root: string;
  /** Shared by all watchers, as the system's queue is. */
  readonly queue: QueueGauge;
  /** Something about this path changed; with `isName` what has this name came, went, or was replaced. */
  readonly onChange: (path: string, isName: boolean) => void;
  /** The system says that changes were missed. */
  readonly onLost: () => void;
  /** A folder can't be watched, with the system's code. */
  readonly onRefused: (path: string, code: string) => void;
}

/** Linux has no watch of a whole tree: Node's own imitation watches each file, and misses folders made in a hurry. */
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
      const code = errorCode(error);
      // Listing it fails as well, and says so.
      if (!isGone(error) && code !== 'EACCES') onRefused(path, code);
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

/** One watch, which the system keeps for all that is below. */
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
      onRefused(path, errorCode(error));
    }
  }

  forget(): void {
    // New folders are watched with the tree.
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

/**
 * Notices that the system's queue may have run over, which Node doesn't say:
 * its events are then handed over in one turn of the loop, as many as it holds.
 */
export class QueueGauge {
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

/** Linux's own default. */
const USUAL_LIMIT = 16_384;

function queueLimit(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || USUAL_LIMIT;
  } catch {
    return USUAL_LIMIT;
  }
}
