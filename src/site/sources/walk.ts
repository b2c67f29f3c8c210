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
  /** Called every few milliseconds with the number of entries so far. */
  readonly onFound?: ((found: number) => void) | undefined;
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
  for (const found of walker.steps()) if (pause.isDue()) await pause.rest(found);
  return walker;
}

function createPause({ signal, onFound }: WalkOptions): { isDue(): boolean; rest(found: number): Promise<void> } {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    async rest(found) {
      onFound?.(found);
      await setImmediate();
      signal?.throwIfAborted();
      since = performance.now();
    },
  };
}

class Walker implements Walk {
  readonly entries = new Entries();
  readonly folders: FolderRange[] = [];
  readonly gone = new Set<number>();
  linksLeftOut = 0;
  readonly #root: string;
  readonly #except: ReadonlySet<string>;
  readonly #ignore: (path: string) => boolean;
  /** Entries that are folders still to list. */
  readonly #pending: number[] = [0];

  constructor({ root, except, ignore = () => false }: WalkOptions) {
    this.#root = root;
    this.#except = new Set(except);
    this.#ignore = ignore;
  }

  /** Gives the number of entries found, after each of them. */
  *steps(): Generator<number> {
    this.entries.add('', statSync(this.#root));
    for (let index = this.#pending.pop(); index !== undefined; index = this.#pending.pop()) {
      const from = this.entries.length;
      const prefix = index === 0 ? '' : `${this.entries.path(index)}/`;
      for (const entry of this.#list(index)) {
        const path = prefix + entry.name;
        if (!isLeftOut(entry.name) && !this.#ignore(path)) this.#visit(entry, path);
        yield this.entries.length;
      }
      this.folders.push({ index, from, to: this.entries.length });
    }
  }

  #list(index: number): Dirent[] {
    const folder = this.entries.path(index);
    const absolute = this.#absolute(folder);
    const listed = attempt(folder, () => readdirSync(absolute, { withFileTypes: true }));
    if (listed === undefined) this.gone.add(index);
    if (listed?.some(({ name }) => name.includes('\uFFFD'))) requireUtf8(absolute, folder);
    return listed ?? [];
  }

  #visit(entry: Dirent, path: string): void {
    const absolute = this.#absolute(path);
    if (this.#except.has(absolute)) return;
    if (Buffer.byteLength(absolute) > MAX_PATH_BYTES) throw unreadable(path, 'ENAMETOOLONG');
    const stats = entry.isSymbolicLink() ? this.#follow(absolute) : attempt(path, () => lstatSync(absolute));
    if (!stats?.isFile() && !stats?.isDirectory()) return;
    if (this.entries.length === MAX_ENTRIES) throw tooMany();
    const index = this.entries.add(path, stats);
    if (stats.isDirectory()) this.#pending.push(index);
  }

  #follow(absolute: string): Stats | undefined {
    const target = findTarget(absolute);
    const stats = target !== undefined && this.#holds(target) ? statSync(target, { throwIfNoEntry: false }) : undefined;
    if (stats?.isFile()) return stats;
    this.linksLeftOut += 1;
    return undefined;
  }

  #holds(target: string): boolean {
    return isInside(target, this.#root) && ![...this.#except].some((hidden) => isInside(target, hidden));
  }

  #absolute(path: string): string {
    return path === '' ? this.#root : `${this.#root === '/' ? '' : this.#root}/${path}`;
  }
}

function tooMany(): AppError {
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
