import { isUtf8 } from 'node:buffer';
import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import {
  type EntryProblem,
  getErrorCode,
  isMissingFileError,
  nonUtf8NameProblem,
  retryOnEmfile,
  unreadableEntry,
  unreadableSourceError,
  WalkEntries,
} from './entries.js';
import { createExclude, DEFAULT_EXPOSURE, type Exclude, isExcludedPath, MAX_ENTRIES } from './site-sources.js';

export interface WalkOptions {
  /** A real absolute path without a trailing slash. */
  readonly root: string;
  /** Absolute paths inside the root that do not belong to the site, such as the state folder. */
  readonly except: readonly string[];
  /** The rules for excluded entries; by default those of a site without configuration. */
  readonly exclude?: Exclude;
  readonly signal?: AbortSignal;
  /** Called every few milliseconds with the entries found so far. */
  readonly onFound?: (entries: WalkEntries) => void;
  readonly observer?: WalkObserver;
  /**
   * The number of entries to stat; all by default. Files found after these are only listed and get their stats when they
   * are read.
   */
  readonly lookedAt?: number;
  /** The places to examine; by default the root with everything in it. */
  readonly starts?: readonly WalkStart[];
  /** Called for each entry that is skipped because it can't be read or is not a file, folder or link. */
  readonly onProblem?: (problem: EntryProblem) => void;
  /** The name of the source, for the error when its folder can't be listed. */
  readonly name?: string;
}

/** Notified of the folders and links that a watcher needs. */
export interface WalkObserver {
  /** Called before a folder is listed. The listing includes changes before this call; later ones must be watched. */
  folder(path: string): void;
  /** Called for each link, including those left out, because a link changes with its target. */
  link(path: string): void;
}

export interface WalkStart {
  /** A path below the root that is not excluded. It need not exist. */
  readonly path: string;
  /** Whether everything in it is examined too, if it is a folder. */
  readonly deep: boolean;
}

export interface WalkResult {
  readonly entries: WalkEntries;
  readonly folders: readonly FolderRange[];
  /** The folders that were deleted before they could be listed. */
  readonly gone: ReadonlySet<number>;
  /** The number of ignored links: to folders, to places outside the site, and broken ones. */
  readonly linksLeftOut: number;
  /** The number of entries left out, with everything below them, because their names are private. */
  readonly privateLeftOut: number;
}

/** A folder and the range of its direct entries, which are consecutive. */
export interface FolderRange {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** Linux's PATH_MAX. A longer path can be listed but neither opened nor served. */
const MAX_PATH_BYTES = 4096;

/** The number of entries between two checks of the clock. */
const STEP_ENTRIES = 16;

/** The maximum time that the walk blocks the thread, so that requests can be handled in between. */
const SLICE_MS = 12;

/**
 * Lists a folder recursively, in no particular order, and stats each entry. It opens one folder at a time with
 * synchronous calls, which are three times as fast as asynchronous ones here, and yields the thread between slices.
 *
 * A link to a file inside the site counts as that file under the link's name. Links to folders are left out, so that no
 * folder appears twice or contains itself. Links to private files and to places outside the site are left out, so that
 * they are never published.
 *
 * Unreadable files and folders, names that are not valid UTF-8, paths over 4,096 bytes, sockets, pipes and devices are
 * skipped and reported.
 *
 * @throws AppError `unprocessable` when the root can't be listed or there are too many entries.
 */
export async function walk(options: WalkOptions): Promise<WalkResult> {
  const walker = new Walker(options);
  const pause = createPause(options);
  for (const entries of walker.steps()) if (pause.isDue()) await pause.rest(entries);
  return walker;
}

function createPause({ signal, onFound }: WalkOptions): {
  isDue(): boolean;
  rest(entries: WalkEntries): Promise<void>;
} {
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

class Walker implements WalkResult {
  readonly entries = new WalkEntries();
  readonly folders: FolderRange[] = [];
  readonly gone = new Set<number>();
  linksLeftOut = 0;
  privateLeftOut = 0;
  readonly #options: WalkOptions;
  readonly #except: ReadonlySet<string>;
  readonly #exclude: Exclude;
  #lastReported: string | undefined;
  /** The paths of `except` inside the root, relative to it. */
  readonly #exceptBelow: ReadonlySet<string>;
  /** The indexes of the folders to list. */
  readonly #pending: number[] = [];

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#except = new Set(options.except);
    this.#exclude = options.exclude ?? createExclude(DEFAULT_EXPOSURE);
    const start = this.#absolute('').replace(/\/?$/, '/');
    const inside = options.except.filter((path) => path.startsWith(start));
    this.#exceptBelow = new Set(inside.map((path) => path.slice(start.length)));
  }

  /** Yields the entries found so far at regular intervals. */
  *steps(): Generator<WalkEntries> {
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
      this.entries.add(
        '',
        this.#readRoot((root) => statSync(root)),
      );
      if (deep) this.#pending.push(this.entries.length - 1);
    } else {
      const stats = this.#attempt(path, () => lstatSync(this.#absolute(path)));
      if (stats && this.#isPart(path, stats.isDirectory())) this.#visit(path, stats.isSymbolicLink());
      if (!deep) this.#pending.pop();
    }
  }

  *#listAll(index: number): Generator<WalkEntries> {
    const from = this.entries.length;
    const pending = this.#pending.length;
    const folder = this.entries.path(index);
    for (const [place, entry] of this.#list(index).entries()) {
      const path = join(folder, entry.name);
      if (this.#isPart(path, entry.isDirectory())) this.#meet(path, entry);
      if (place % STEP_ENTRIES === 0) yield this.entries;
    }
    this.folders.push({ index, from, to: this.entries.length });
    this.#sortPending(pending);
  }

  /** Sorts the new pending folders, so that they are listed in path order, which is nearly the order of the writes. */
  #sortPending(from: number): void {
    const found = this.#pending.splice(from);
    found.sort((one, other) => (this.entries.path(one) < this.entries.path(other) ? 1 : -1));
    for (const index of found) this.#pending.push(index);
  }

  #isPart(path: string, isFolder: boolean): boolean {
    const exclusion = this.#exclude(path, isFolder);
    if (exclusion === 'private') this.privateLeftOut += 1;
    return exclusion === undefined;
  }

  #list(index: number): Dirent[] {
    const folder = this.entries.path(index);
    const absolute = this.#absolute(folder);
    this.#announce(index, folder);
    if (folder === '') return this.#withoutBroken(folder, this.#readRoot(listFolder));
    const listed = this.#attempt(folder, () => listFolder(absolute));
    if (listed) return this.#withoutBroken(folder, listed);
    if (this.#lastReported !== folder) this.gone.add(index);
    return [];
  }

  /** Removes names that are not valid UTF-8, in which Node.js replaces bytes by U+FFFD, so that it can't open them. */
  #withoutBroken(folder: string, listed: Dirent[]): Dirent[] {
    if (!listed.some(({ name }) => name.includes(UNDECODED))) return listed;
    const names = this.#attempt(folder, () => readdirSync(this.#absolute(folder), { encoding: 'buffer' })) ?? [];
    const readable = new Set<string>();
    for (const name of names) {
      if (isUtf8(name)) readable.add(name.toString());
      else this.#report(nonUtf8NameProblem(folder, name));
    }
    return listed.filter(({ name }) => !name.includes(UNDECODED) || readable.delete(name));
  }

  /** Reads the root, whose failure ends the walk. */
  #readRoot<T>(read: (root: string) => T): T {
    const { root, name = root } = this.#options;
    try {
      return retryOnEmfile(() => read(root));
    } catch (error) {
      throw unreadableSourceError(name, getErrorCode(error));
    }
  }

  #report(problem: EntryProblem): void {
    this.#lastReported = problem.path;
    this.#options.onProblem?.(problem);
  }

  /** Starts watching a folder, then stats it again, because the listing includes changes from before it was watched. */
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
    if (this.#exceptBelow.has(path) || !this.#isShort(path)) return;
    this.#assertEntryLimit();
    this.entries.addUnread(path);
  }

  #visit(path: string, isLink: boolean): void {
    if (this.#exceptBelow.has(path)) return;
    const absolute = this.#absolute(path);
    if (isLink) this.#options.observer?.link(path);
    const stats = this.#attempt(path, () => (isLink ? this.#follow(absolute) : lstatSync(absolute)));
    if (stats === undefined) return;
    if (!stats.isFile() && !stats.isDirectory()) {
      this.#report({ path, reason: `is ${describeType(stats)}, not a file or folder`, isName: false });
      return;
    }
    this.#assertEntryLimit();
    const index = this.entries.add(path, stats);
    if (stats.isDirectory()) this.#pending.push(index);
  }

  #isShort(path: string): boolean {
    const { root } = this.#options;
    // A code unit has at most three bytes, so only long paths have to be measured.
    if (root.length + path.length < MAX_PATH_BYTES / 3) return true;
    if (Buffer.byteLength(this.#absolute(path)) <= MAX_PATH_BYTES) return true;
    this.#report(unreadableEntry(path, 'ENAMETOOLONG'));
    return false;
  }

  #assertEntryLimit(): void {
    if (this.entries.length === MAX_ENTRIES) throw tooManyEntriesError();
  }

  /** Returns `undefined` for an entry that was deleted since it was listed or can't be read; reports the latter. */
  #attempt<T>(path: string, read: () => T): T | undefined {
    if (!this.#isShort(path)) return undefined;
    try {
      return retryOnEmfile(read);
    } catch (error) {
      if (isMissingFileError(error)) return undefined;
      this.#report(unreadableEntry(path, getErrorCode(error)));
      return undefined;
    }
  }

  #follow(absolute: string): Stats | undefined {
    const target = findTarget(absolute);
    const isShown = target !== undefined && this.#holds(target) && !this.#isPrivate(target);
    const stats = isShown ? statSync(target, { throwIfNoEntry: false }) : undefined;
    if (stats?.isFile()) return stats;
    this.linksLeftOut += 1;
    return undefined;
  }

  #holds(target: string): boolean {
    return isInside(target, this.#options.root) && ![...this.#except].some((hidden) => isInside(target, hidden));
  }

  /** Ignores folders whose names start with two dots, through which Kubernetes links each mounted file. */
  #isPrivate(target: string): boolean {
    const below = target.slice(this.#absolute('').replace(/\/?$/, '/').length);
    const steps = below.split('/').filter((step, index, all) => index === all.length - 1 || !step.startsWith('..'));
    return isExcludedPath(steps.join('/'), this.#exclude, false);
  }

  #absolute(path: string): string {
    const { root } = this.#options;
    return path === '' ? root : `${root === '/' ? '' : root}/${path}`;
  }
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Creates the error for a source with more than {@link MAX_ENTRIES}. */
export function tooManyEntriesError(): AppError {
  return new AppError('unprocessable', `The site has more than ${MAX_ENTRIES} files and folders.`);
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** Returns the target of a link, or `undefined` if it is broken, circular or not accessible. */
function findTarget(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

const listFolder = (folder: string): Dirent[] => readdirSync(folder, { withFileTypes: true });

/** The character that replaces bytes that are not valid UTF-8. */
const UNDECODED = '\uFFFD';

function describeType(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
