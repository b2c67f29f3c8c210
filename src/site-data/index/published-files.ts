import { createHash, randomUUID } from 'node:crypto';
import { constants, copyFile, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { limitConcurrency } from '@trellis/core/concurrency';
import { isDamage, makeDatabasePrivate, moveDamagedAside } from '@trellis/core/storage';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { type IndexObject, putObject, toFileKey } from './index-head.js';
import { encodePack, toPackKey, digestOf } from './site-files.js';

/** A file of the site, as its record describes it. */
export interface SiteFile {
  readonly absolutePath: string;
  readonly contentDigest: string;
  /** In bytes. */
  readonly size: number;
}

/** The files that this server has stored in the bucket, and its identity as a publisher. */
export interface PublishedFiles {
  /** Identifies the state folder of this publisher. */
  readonly id: string;
  /** Whether nothing is known about the bucket, so that every file has to be stored or found there. */
  readonly isNew: boolean;
  /** Stores the files that the bucket lacks. A file that was changed or deleted meanwhile is left out. */
  add(files: Iterable<SiteFile>, signal: AbortSignal): Promise<void>;
  /** Stores the catalogs of all packs, as far as they changed, and returns them in order. */
  putCatalogs(signal: AbortSignal): Promise<readonly IndexObject[]>;
  /** Begins to delete unused files, if the last cleanup was a day ago. @param at The time, in milliseconds since the epoch. */
  beginCleanup(at: number): FileCleanup | undefined;
  /** Forgets the stored files, because the bucket was emptied. */
  forget(): void;
  close(): void;
}

/** A cleanup of the stored files. Files that are added while it runs are in use. */
export interface FileCleanup {
  /**
   * Deletes the objects of files that have been unused for a week. A file that is used again later is stored again. Packs
   * stay: they contain small files, most of which are in use.
   *
   * @param used The digests of all files of the site since the cleanup began.
   * @returns The number of deleted objects.
   */
  deleteUnused(used: Iterable<string>, signal: AbortSignal): Promise<number>;
  end(): void;
}

const DAY_MS = 86_400_000;

/** A folder that was not mounted, a replica that lags behind, and a release that is taken back find their files again. */
const UNUSED_MS = 7 * DAY_MS;

/** The digests that are noted before other work continues. */
const NOTED_AT_ONCE = 4096;

/** A larger file is an object of its own, from which a replica reads exactly the file. */
const MAX_PACKED_BYTES = 256 * 1024;

/** The size of a pack, and the number of its files. It is sent as one request, which is repeated if the connection fails. */
const PACK_BYTES = 4 * 2 ** 20;
const PACK_FILES = 4096;

/** Fewer small files, such as those that an editor saves, are objects of their own, so that the catalogs stay the same. */
const MIN_PACK_FILES = 16;

/** A catalog of full packs has 10 MB at most before compression. */
const PACKS_OF_CATALOG = 128;

/** A larger file is copied and sent in parts. */
const MAX_MEMORY_BYTES = 16 * 2 ** 20;

/** The content that is under way, in MiB. A small file counts as 4, as it waits for the bucket most of the time. */
const UPLOAD_CAPACITY = 64;
const MIN_WEIGHT = 4;

/** How many uploads wait for capacity, with the list of their files only. */
const MAX_WAITING = 32;

const MAX_READS = 16;

/** The digest of a whole file, and none of a large one that has not been read yet. */
const DIGEST = /^[0-9a-f]{32}$/;

/** @param folder Contains the list of stored files, and the temporary file of each upload. */
export function openPublishedFiles(store: ObjectStore, folder: string, name: string): PublishedFiles {
  const list = openList(join(folder, `published-${name}.db`));
  const limit = limitConcurrency(UPLOAD_CAPACITY);
  const reads = limitConcurrency(MAX_READS);
  let isCleaning = false;
  /** The deletions that are under way, by digest. */
  const deletions = new Map<string, Promise<void>>();

  async function upload(file: SiteFile, signal: AbortSignal): Promise<void> {
    const key = toFileKey(file.contentDigest);
    await deletions.get(file.contentDigest);
    if (file.size <= MAX_MEMORY_BYTES) {
      const content = Buffer.allocUnsafe(file.size);
      if (!(await readUnchanged(file, content))) return;
      await store.put(key, content, { ifAbsent: true, signal });
    } else if (!(await uploadCopy(file, key, signal))) return;
    list.insert([file.contentDigest]);
  }

  async function uploadCopy({ absolutePath, contentDigest }: SiteFile, key: string, signal: AbortSignal) {
    const copy = join(folder, `publish-${randomUUID()}`);
    try {
      // The original may change while it is sent.
      await copyFile(absolutePath, copy, constants.COPYFILE_FICLONE);
      if ((await digestOf(copy)) !== contentDigest) return false;
      await store.put(key, { file: copy }, { ifAbsent: true, signal });
      return true;
    } catch (error) {
      if (isUnreadable(error)) return false;
      throw error;
    } finally {
      await rm(copy, { force: true });
    }
  }

  async function uploadPack(files: readonly SiteFile[], signal: AbortSignal): Promise<void> {
    let bytes = 0;
    const places = files.map((file) => ({ file, start: bytes, end: (bytes += file.size) }));
    const whole = Buffer.allocUnsafe(bytes);
    const isRead = await Promise.all(
      places.map(({ file, start, end }) => reads(() => readUnchanged(file, whole.subarray(start, end)))),
    );
    const read = places.filter((_place, index) => isRead[index]);
    if (read.length === 0) return;
    const isWhole = read.length === files.length;
    const body = isWhole ? whole : Buffer.concat(read.map(({ start, end }) => whole.subarray(start, end)));
    const digest = createHash('sha256').update(body).digest();
    await store.put(toPackKey(digest), body, { ifAbsent: true, signal });
    const digests = read.map(({ file }) => file.contentDigest);
    list.insert(digests, encodePack({ digest, digests, sizes: read.map(({ file }) => file.size) }));
  }

  async function deleteUnused(used: Iterable<string>, at: number, signal: AbortSignal): Promise<number> {
    for (const digests of inGroups(used, NOTED_AT_ONCE)) {
      list.noteUsed(digests);
      await nextTurn(undefined, { signal });
    }
    let count = 0;
    for await (const { key } of store.list(FILES)) {
      signal.throwIfAborted();
      const digest = key.slice(FILES.length);
      if (!DIGEST.test(digest) || list.unusedSince(digest, at) > at - UNUSED_MS) continue;
      // In this order: a file that returns meanwhile is stored again.
      list.remove(digest);
      const deletion = store.delete(key).finally(() => deletions.delete(digest));
      deletions.set(
        digest,
        deletion.catch(() => undefined),
      );
      await deletion;
      count += 1;
    }
    return count;
  }

  return {
    ...list.identity,
    async add(files, signal) {
      const uploads = new Set<Promise<void>>();
      const failures: unknown[] = [];
      /** The digests that are not in the list yet. */
      const under = new Set<string>();
      const begin = async (group: readonly SiteFile[], weight: number, run: () => Promise<void>): Promise<void> => {
        const done: Promise<void> = limit(() => (failures.length === 0 ? run() : Promise.resolve()), weight)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => {
            uploads.delete(done);
            for (const { contentDigest } of group) under.delete(contentDigest);
          });
        uploads.add(done);
        if (uploads.size >= MAX_WAITING) await Promise.race(uploads);
      };
      const beginOne = (file: SiteFile) => begin([file], weigh(file.size), () => upload(file, signal));
      let small: SiteFile[] = [];
      let bytes = 0;
      for (const file of files) {
        if (failures.length > 0) break;
        const { contentDigest, size } = file;
        if (!DIGEST.test(contentDigest)) continue;
        if (isCleaning) list.noteUsed([contentDigest]);
        if (under.has(contentDigest) || list.has(contentDigest)) continue;
        under.add(contentDigest);
        if (size > MAX_PACKED_BYTES) {
          await beginOne(file);
          continue;
        }
        small.push(file);
        bytes += size;
        if (bytes < PACK_BYTES && small.length < PACK_FILES) continue;
        const pack = small;
        small = [];
        bytes = 0;
        await begin(pack, PACK_WEIGHT, () => uploadPack(pack, signal));
      }
      if (small.length < MIN_PACK_FILES) for (const file of small) await beginOne(file);
      else await begin(small, PACK_WEIGHT, () => uploadPack(small, signal));
      await Promise.all(uploads);
      if (failures.length > 0) throw failures[0];
    },

    async putCatalogs(signal) {
      const catalogs: IndexObject[] = [];
      const packs = list.countPacks();
      for (let first = 0; first < packs; first += PACKS_OF_CATALOG) {
        const count = Math.min(PACKS_OF_CATALOG, packs - first);
        const known = list.findCatalog(first, count);
        const catalog = known ?? (await putObject(store, 'catalogs', list.readPacks(first, count), signal));
        if (known === undefined) list.noteCatalog({ first, count, ...catalog });
        catalogs.push(catalog);
      }
      return catalogs;
    },
    beginCleanup(at) {
      if (isCleaning || !list.beginCleanup(at)) return undefined;
      isCleaning = true;
      return {
        deleteUnused: (used, signal) => deleteUnused(used, at, signal),
        end() {
          isCleaning = false;
          list.endCleanup();
        },
      };
    },
    forget: () => list.clear(),
    close: () => list.close(),
  };
}

const FILES = toFileKey('');

function* inGroups<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let group: T[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** The content of a pack, and its copies while it is sent: five at a time. */
const PACK_WEIGHT = 12;

const weigh = (bytes: number): number => Math.min(Math.max(MIN_WEIGHT, Math.ceil(bytes / 2 ** 20)), 16);

/** One file with a damaged block must not keep the others from being published. */
const isUnreadable = (error: unknown): boolean =>
  ['EACCES', 'EIO', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Reads the content of a file with the size of `target` into it. @returns whether it still has the digest of the record. */
async function readUnchanged({ absolutePath, contentDigest }: SiteFile, target: Buffer): Promise<boolean> {
  try {
    const handle = await open(absolutePath);
    try {
      const { bytesRead } = await handle.read(target, 0, target.byteLength, 0);
      if (bytesRead !== target.byteLength) return false;
    } finally {
      await handle.close();
    }
    return createHash('md5').update(target).digest('hex') === contentDigest;
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

interface NotedCatalog extends IndexObject {
  readonly first: number;
  readonly count: number;
}

/** Opens the database of the list. A damaged one is moved aside: then every file is stored again, or found in the bucket. */
function openDatabase(file: string): DatabaseSyncInstance {
  makeDatabasePrivate(file);
  const database = new DatabaseSync(file);
  try {
    createTables(database);
    const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
    if (found === 'ok') return database;
  } catch (error) {
    if (!isDamage(error)) {
      database.close();
      throw error;
    }
  }
  database.close();
  moveDamagedAside(file);
  return openDatabase(file);
}

function createTables(database: DatabaseSyncInstance): void {
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
     CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS files (digest TEXT PRIMARY KEY) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS unused (digest TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS packs (number INTEGER PRIMARY KEY, entry BLOB NOT NULL);
     CREATE TABLE IF NOT EXISTS catalogs (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, key TEXT NOT NULL, bytes INTEGER NOT NULL)`,
  );
}

/** The list of the stored files and packs, which outlasts a restart. */
function openList(file: string) {
  const database = openDatabase(file);
  const known = database.prepare(`SELECT value FROM facts WHERE key = 'id'`).get() as { value: string } | undefined;
  const id = known?.value ?? randomUUID();
  if (known === undefined) {
    database.prepare(`INSERT INTO facts VALUES ('id', ?), ('cleaned', ?)`).run(id, String(Date.now()));
  }
  const find = database.prepare('SELECT 1 FROM files WHERE digest = ?');
  const insertFile = database.prepare('INSERT OR IGNORE INTO files VALUES (?)');
  const insertPack = database.prepare('INSERT INTO packs (entry) VALUES (?)');

  function transact(work: () => void): void {
    database.exec('BEGIN');
    try {
      work();
      database.exec('COMMIT');
    } catch (error) {
      // On a full disk SQLite has already rolled back.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    identity: { id, isNew: known === undefined },
    has: (digest: string): boolean => find.get(digest) !== undefined,
    /** Adds stored files, and the entry of the pack that contains them. */
    insert(digests: readonly string[], pack?: Uint8Array): void {
      transact(() => {
        for (const digest of digests) insertFile.run(digest);
        if (pack) insertPack.run(pack);
      });
    },
    /** Notes the time of a cleanup, if the last one was a day ago. */
    beginCleanup(at: number): boolean {
      const last = database.prepare(`SELECT value FROM facts WHERE key = 'cleaned'`).get() as
        { value: string } | undefined;
      if (last !== undefined && Number(last.value) > at - DAY_MS) return false;
      database.prepare(`INSERT OR REPLACE INTO facts VALUES ('cleaned', ?)`).run(String(at));
      database.exec('CREATE TEMP TABLE used (digest TEXT PRIMARY KEY) WITHOUT ROWID');
      return true;
    },
    endCleanup: () => database.exec('DROP TABLE used'),
    noteUsed(digests: readonly string[]): void {
      const insert = database.prepare('INSERT OR IGNORE INTO used VALUES (?)');
      const forget = database.prepare('DELETE FROM unused WHERE digest = ?');
      transact(() => {
        for (const digest of digests) {
          insert.run(digest);
          forget.run(digest);
        }
      });
    },
    /** Returns since when a digest is unused, by the cleanups since then; `Infinity` for one in use. */
    unusedSince(digest: string, at: number): number {
      if (database.prepare('SELECT 1 FROM used WHERE digest = ?').get(digest)) return Infinity;
      database.prepare('INSERT OR IGNORE INTO unused VALUES (?, ?)').run(digest, at);
      return (database.prepare('SELECT since FROM unused WHERE digest = ?').get(digest) as { since: number }).since;
    },
    remove(digest: string): void {
      transact(() => {
        for (const table of ['files', 'unused']) database.prepare(`DELETE FROM ${table} WHERE digest = ?`).run(digest);
      });
    },
    countPacks: (): number =>
      (database.prepare('SELECT count(*) AS count FROM packs').get() as { count: number }).count,
    /** Returns the entries of packs, of which none is ever deleted alone. */
    readPacks(first: number, count: number): Buffer {
      const rows = database
        .prepare('SELECT entry FROM packs WHERE number > ? ORDER BY number LIMIT ?')
        .all(first, count) as { entry: Uint8Array }[];
      return Buffer.concat(rows.map(({ entry }) => entry));
    },
    findCatalog: (first: number, count: number): IndexObject | undefined =>
      database.prepare('SELECT key, bytes FROM catalogs WHERE first = ? AND count = ?').get(first, count) as
        IndexObject | undefined,
    noteCatalog({ first, count, key, bytes }: NotedCatalog): void {
      database.prepare('INSERT OR REPLACE INTO catalogs VALUES (?, ?, ?, ?)').run(first, count, key, bytes);
    },
    clear(): void {
      database.exec('BEGIN; DELETE FROM files; DELETE FROM packs; DELETE FROM catalogs; COMMIT');
    },
    close: () => database.close(),
  };
}
