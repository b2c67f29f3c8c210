import { type FSWatcher, lstatSync, readdirSync, watch, type WatchListener } from 'node:fs';
import path from 'node:path';

/** Linux can't watch a whole tree. The emulation in Node.js before version 24 loses a file that an editor replaces. */
const WATCHES_TREES = process.platform === 'darwin' || process.platform === 'win32';

/**
 * Watches a folder and all folders below it, also those that are created or replaced later, and calls the listener as
 * `watch` of `node:fs` does. Links are not followed.
 *
 * @throws Error of the file system if there is no such folder.
 */
export function watchTree(
  root: string,
  listener: WatchListener<string>,
  onError: (error: Error) => void,
): { readonly close: () => void } {
  if (WATCHES_TREES) return watch(root, { recursive: true }, listener).on('error', onError);
  return new EachFolder(root, listener, onError);
}

/** Watches each folder of a tree. */
class EachFolder {
  readonly #root: string;
  readonly #listener: WatchListener<string>;
  readonly #onError: (error: Error) => void;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(root: string, listener: WatchListener<string>, onError: (error: Error) => void) {
    this.#root = root;
    this.#listener = listener;
    this.#onError = onError;
    try {
      this.#add('');
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches a folder before it lists its folders, so that none is missed. */
  #add(folder: string): void {
    const place = path.join(this.#root, folder);
    const watcher = watch(place, (event, name) => {
      if (event === 'rename' && name !== null) this.#addNew(path.join(folder, name));
      this.#listener(event, name === null ? null : path.join(folder, name));
    });
    this.#watchers.get(folder)?.close();
    this.#watchers.set(folder, watcher.on('error', this.#onError));
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      if (entry.isDirectory()) this.#addNew(path.join(folder, entry.name));
    }
  }

  /** Watches a path if it is a folder. It may be deleted at any time. */
  #addNew(folder: string): void {
    try {
      if (lstatSync(path.join(this.#root, folder)).isDirectory()) this.#add(folder);
    } catch (error) {
      if (!MISSING.has((error as NodeJS.ErrnoException).code)) this.#onError(error as Error);
    }
  }
}

const MISSING: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);
