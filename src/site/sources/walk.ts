import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import type { Dirent, Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { AppError } from '../../errors.js';
import { whenDescriptorsAllow } from './descriptors.js';
import { Entries } from './entries.js';
import { isLeftOut } from './exclusions.js';
import { MAX_ENTRIES } from './positions.js';
import { errorCode, isGone, notUtf8, unreadable } from './unreadable.js';

export interface WalkOptions {
  /** Absolute, without links on the way and without a slash at the end. */
  readonly root: string;
  /** Absolute paths that are no part of the site though they lie in it, such as the server's own state. */
  readonly except: readonly string[];
  /** Whether a path below the root is no part of the site, with all that is below it. */
  readonly ignore?: ((path: string) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called every few milliseconds with the entries so far. */
  readonly onFound?: ((entries: Entries) => void) | undefined;
  readonly observer?: WalkObserver | undefined;
  /**
   * How many entries are looked at here; files that are found after these are
   * only listed, and left to whoever opens them to read. All, unless named.
   */
  readonly lookedAt?: number;
  /** Where to look; the root with all that is in it, unless named. */
  readonly starts?: readonly WalkStart[];
  /** Told of what can't be read, so that the walk goes on with the rest; without it the walk ends there. */
  readonly onUnreadable?: ((path: string, error: AppError) => void) | undefined;
}

/** Told of what a watcher needs to know. */
export interface WalkObserver {
  /** A folder is listed next: what changes in it before this call is found, what changes after it must be watched. */
  folder(path: string): void;
  /** A link was met, also one that is left out: it changes with its target. */
  link(path: string): void;
}

export interface WalkStart {
  /** A path below the root that is no part of what the site leaves out; nothing need be there. */
  readonly path: string;
  /** Whether all that is in it, if it is a folder, is looked at too. */
  readonly deep: boolean;
}

export interface Walk {
  readonly entries: Entries;
  readonly folders: readonly FolderRange[];
  /** Entries that were folders when they were found and could not be listed because they had gone. */
  readonly gone: ReadonlySet<number>;
  /** Links to folders, to places outside the site and to nothing. */
  readonly linksLeftOut: number;
}

/** A folder and the entries directly in it, which follow each other. */
export interface FolderRange {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** Linux's PATH_MAX: a longer path can be listed, and then neither opened nor served. */
const MAX_PATH_BYTES = 4096;

/** How many entries of a folder are looked at between two looks at the clock. */
const STEP_ENTRIES = 16;

/** How long the walk holds the thread: short enough for a request to be answered meanwhile. */
const SLICE_MS = 12;

/**
 * Lists a folder with all that is in it, in no particular order, and stats each
 * entry. One folder is open at a time, and synchronous calls are three times as
 * fast as asynchronous ones here; the thread is given back between slices.
 *
 * A link to a file inside the site counts as that file under the link's name.
 * Links to folders are left out, so that no folder appears twice and none holds
 * itself; links that lead out of the site are left out, so that nothing outside
 * is ever published. Sockets, pipes and devices are left out.
 *
 * @throws AppError `unprocessable` for a folder or file that can't be read, a
 * name that is not valid UTF-8, a path over 4,096 bytes, or too many entries.
 */
export async function walk(options: WalkOptions): Promise<Walk> {
  const walker = new Walker(options);
  const pause = createPause(options);
  for (const entries of walker.steps()) if (pause.isDue()) await pause.rest(entries);
  return walker;
}

function createPause({ signal, onFound }: WalkOptions): { isDue(): boolean; rest(entries: Entries): Promise<void> } {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    async rest(entries) {
      onFound?.(entries);
      await setImmediate();
      signal?.throwIfAborted();
      since = performance.now();
    },
  };
}

const WHOLE: readonly WalkStart[] = [{ path: '', deep: true }];

class Walker implements Walk {
  readonly entries = new Entries();
  readonly folders: FolderRange[] = [];
  readonly gone = new Set<number>();
  linksLeftOut = 0;
  readonly #options: WalkOptions;
  readonly #except: ReadonlySet<string>;
  /** The same as paths below the root, of those that lie there. */
  readonly #exceptBelow: ReadonlySet<string>;
  /** Entries that are folders still to list. */
  readonly #pending: number[] = [];

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#except = new Set(options.except);
    const start = this.#absolute('').replace(/\/?$/, '/');
    const inside = options.except.filter((path) => path.startsWith(start));
    this.#exceptBelow = new Set(inside.map((path) => path.slice(start.length)));
  }

  /** Gives the entries so far, now and then. */
  *steps(): Generator<Entries> {
    for (const start of this.#options.starts ?? WHOLE) {
      this.#begin(start);
      for (let index = this.#pending.pop(); index !== undefined; index = this.#pending.pop()) {
        yield* this.#listAll(index);
      }
      yield this.entries;
    }
  }

  #begin({ path, deep }: WalkStart): void {
    if (path === '') {
      this.entries.add('', statSync(this.#options.root));
      if (deep) this.#pending.push(this.entries.length - 1);
    } else {
      const isLink = this.#attempt(path, () => lstatSync(this.#absolute(path)))?.isSymbolicLink() ?? false;
      this.#visit(path, isLink);
      if (!deep) this.#pending.pop();
    }
  }

  *#listAll(index: number): Generator<Entries> {
    const from = this.entries.length;
    const pending = this.#pending.length;
    const folder = this.entries.path(index);
    for (const [place, entry] of this.#list(index).entries()) {
      const path = join(folder, entry.name);
      if (!isLeftOut(entry.name) && !this.#options.ignore?.(path)) this.#meet(path, entry);
      if (place % STEP_ENTRIES === 0) yield this.entries;
    }
    this.folders.push({ index, from, to: this.entries.length });
    this.#sortPending(pending);
  }

  /** Folders are listed in the order of their paths, which is nearly the one that files are written in. */
  #sortPending(from: number): void {
    const found = this.#pending.splice(from);
    found.sort((one, other) => (this.entries.path(one) < this.entries.path(other) ? 1 : -1));
    for (const index of found) this.#pending.push(index);
  }

  #list(index: number): Dirent[] {
    const folder = this.entries.path(index);
    const absolute = this.#absolute(folder);
    this.#announce(index, folder);
    const listed = this.#tolerate(folder, () => {
      const entries = attempt(folder, () => readdirSync(absolute, { withFileTypes: true }));
      if (entries === undefined) this.gone.add(index);
      return entries;
    });
    const broken = listed?.find(({ name }) => name.includes('\uFFFD'));
    if (broken) this.#tolerate(join(folder, broken.name), () => requireUtf8(absolute, folder));
    return listed ?? [];
  }

  /** What changed in the folder before it was watched counts as found, so its numbers are those of a later time. */
  #announce(index: number, folder: string): void {
    const { observer } = this.#options;
    if (observer === undefined) return;
    observer.folder(folder);
    const stats = this.#attempt(folder, () => lstatSync(this.#absolute(folder)));
    if (stats?.isDirectory()) this.entries.update(index, stats);
  }

  #meet(path: string, entry: Dirent): void {
    const { lookedAt = Infinity } = this.#options;
    if (entry.isFile() && this.entries.length >= lookedAt) this.#addListed(path);
    else this.#visit(path, entry.isSymbolicLink());
  }

  #addListed(path: string): void {
    if (this.#exceptBelow.has(path)) return;
    this.#requireShort(path);
    this.#requireRoom();
    this.entries.addUnread(path);
  }

  #visit(path: string, isLink: boolean): void {
    if (this.#exceptBelow.has(path)) return;
    const absolute = this.#absolute(path);
    if (isLink) this.#options.observer?.link(path);
    const stats = this.#attempt(path, () => (isLink ? this.#follow(absolute) : lstatSync(absolute)));
    if (!stats?.isFile() && !stats?.isDirectory()) return;
    this.#requireRoom();
    const index = this.entries.add(path, stats);
    if (stats.isDirectory()) this.#pending.push(index);
  }

  #requireShort(path: string): void {
    const { root } = this.#options;
    // Only a long path needs counting: a code unit has at most three bytes.
    if (root.length + path.length < MAX_PATH_BYTES / 3) return;
    if (Buffer.byteLength(this.#absolute(path)) > MAX_PATH_BYTES) throw unreadable(path, 'ENAMETOOLONG');
  }

  #requireRoom(): void {
    if (this.entries.length === MAX_ENTRIES) throw tooMany();
  }

  #attempt<T>(path: string, read: () => T): T | undefined {
    return this.#tolerate(path, () => {
      this.#requireShort(path);
      return attempt(path, read);
    });
  }

  #tolerate<T>(path: string, read: () => T): T | undefined {
    const { onUnreadable } = this.#options;
    if (onUnreadable === undefined) return read();
    try {
      return read();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      onUnreadable(path, error);
      return undefined;
    }
  }

  #follow(absolute: string): Stats | undefined {
    const target = findTarget(absolute);
    const stats = target !== undefined && this.#holds(target) ? statSync(target, { throwIfNoEntry: false }) : undefined;
    if (stats?.isFile()) return stats;
    this.linksLeftOut += 1;
    return undefined;
  }

  #holds(target: string): boolean {
    return isInside(target, this.#options.root) && ![...this.#except].some((hidden) => isInside(target, hidden));
  }

  #absolute(path: string): string {
    const { root } = this.#options;
    return path === '' ? root : `${root === '/' ? '' : root}/${path}`;
  }
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** To be thrown where a site would have more than {@link MAX_ENTRIES}. */
export function tooMany(): AppError {
  return new AppError('unprocessable', `Expected a site of at most ${MAX_ENTRIES} files and folders; found more.`);
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** Where a link ends, or `undefined` when it ends nowhere, in itself, or where we may not look. */
function findTarget(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

/** `undefined` when it has gone since it was listed. */
function attempt<T>(path: string, read: () => T): T | undefined {
  try {
    return whenDescriptorsAllow(read);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw unreadable(path, errorCode(error));
  }
}

/** Node shows every byte that it can't decode as U+FFFD, and then finds no file of that name. */
function requireUtf8(absolute: string, folder: string): void {
  const names = attempt(folder, () => readdirSync(absolute, { encoding: 'buffer' })) ?? [];
  const broken = names.find((name) => !isUtf8(name));
  if (broken) throw notUtf8(folder, broken);
}
