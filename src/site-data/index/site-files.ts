/** The files of a site in a bucket, from which replicas read them. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { makeDatabasePrivate, isDamage } from '@trellis/core/storage';
import { type ObjectStore, ObjectStoreError } from '../../storage/objects/object-store.js';
import { toFileKey } from './index-head.js';

/** The files of a published index. */
export interface SiteFiles {
  /**
   * Writes the content with this digest to `target`.
   *
   * @throws AppError `unavailable` if the bucket does not respond or does not have the content.
   */
  fetch(contentDigest: string, target: string): Promise<void>;
  close(): Promise<void>;
}

const MAX_FETCHES = 8;

/** How long the bucket may take to respond. A body gets this time as well, and a second for each MB. */
const RESPONSE_MS = 60_000;
const MIN_BYTES_PER_MS = 1_000;

/** Returns the folder of the local copy of an index. */
export const toReplicaFolder = (state: string): string => join(state, 'site', 'replica');

/** @param folder The folder of the local copy of the index, which has the table of packed files. */
export function openSiteFiles(store: ObjectStore, folder: string, responseMs = RESPONSE_MS): SiteFiles {
  const limit = limitConcurrency(MAX_FETCHES);
  return {
    fetch: (contentDigest, target) => limit(() => fetchFile(store, folder, { contentDigest, target, responseMs })),
    close: () => store.close(),
  };
}

interface Fetched {
  readonly contentDigest: string;
  readonly target: string;
  readonly responseMs: number;
}

async function fetchFile(store: ObjectStore, folder: string, fetched: Fetched): Promise<void> {
  const { contentDigest, target, responseMs } = fetched;
  const ending = new AbortController();
  const { signal } = ending;
  const endAfter = (milliseconds: number) =>
    setTimeout(() => ending.abort(new DOMException('The bucket is too slow.', 'TimeoutError')), milliseconds);
  let timer = endAfter(responseMs);
  try {
    const packed = findPackedFile(folder, contentDigest);
    const { key, start = 0, bytes } = packed ?? { key: toFileKey(contentDigest) };
    if (bytes === 0) {
      await writeFile(target, '', { mode: 0o600 });
      return;
    }
    const range = bytes === undefined ? undefined : { start, end: start + bytes - 1 };
    const found = await store.get(key, { signal, ...(range && { range }) });
    if (found === undefined) throw new ObjectStoreError(`${store.address}/${key} is missing.`, { isTemporary: true });
    clearTimeout(timer);
    timer = endAfter(responseMs + found.bytes / MIN_BYTES_PER_MS);
    await pipeline(Readable.from(found.body), createWriteStream(target, { mode: 0o600 }), { signal });
    if ((await digestOf(target)) !== contentDigest)
      throw new ObjectStoreError(`${store.address}/${key} is damaged.`, { isTemporary: false });
  } catch (cause) {
    await rm(target, { force: true });
    const isTableDamaged = isDamage(cause);
    if (isTableDamaged) deletePackTable(folder);
    const isStore = cause instanceof ObjectStoreError || signal.aborted;
    if (!isStore && !isTableDamaged) throw cause;
    const headers = { 'Retry-After': '5' };
    throw new AppError('unavailable', 'The file can’t be read from the bucket of the site now. Retry later.', {
      cause,
      headers,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the MD5 of a file in hexadecimal, as records of files contain it. */
export async function digestOf(file: string): Promise<string> {
  const digest = createHash('md5');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}

// The packs of a published index: objects that contain many small files, one after the other. Catalogs list the packs and
// their files; a replica keeps them as a table.

/** The files of a pack in the order of their content. */
interface Pack {
  /** The SHA-256 of the pack. */
  readonly digest: Uint8Array;
  /** The MD5 of each file in hexadecimal. */
  readonly digests: readonly string[];
  /** The size of each file in bytes. */
  readonly sizes: readonly number[];
}

/** The part of a pack that has the content of a file. */
interface PackedFile {
  readonly key: string;
  readonly start: number;
  readonly bytes: number;
}

const PACK_DIGEST_BYTES = 32;
const FILE_DIGEST_BYTES = 16;
const COUNT_BYTES = 4;

export const toPackKey = (digest: Uint8Array): string => `packs/${Buffer.from(digest).toString('hex')}`;

/** Returns the entry of a pack: its digest, the count of its files, and the digest and the size of each. A catalog is a sequence of them. */
export function encodePack({ digest, digests, sizes }: Pack): Buffer {
  const count = Buffer.alloc(COUNT_BYTES);
  count.writeUInt32BE(digests.length);
  const files = digests.flatMap((file, index) => {
    const size = Buffer.alloc(COUNT_BYTES);
    size.writeUInt32BE(sizes[index] ?? 0);
    return [Buffer.from(file, 'hex'), size];
  });
  return Buffer.concat([digest, count, ...files]);
}

/** The inverse of {@link encodePack} for all packs of a catalog. */
function* decodePacks(catalog: Buffer): Generator<Pack> {
  for (let at = 0; at < catalog.byteLength;) {
    const digest = catalog.subarray(at, at + PACK_DIGEST_BYTES);
    const count = catalog.readUInt32BE(at + PACK_DIGEST_BYTES);
    const digests: string[] = [];
    const sizes: number[] = [];
    at += PACK_DIGEST_BYTES + COUNT_BYTES;
    for (let file = 0; file < count; file += 1, at += FILE_DIGEST_BYTES + COUNT_BYTES) {
      sizes.push(catalog.readUInt32BE(at + FILE_DIGEST_BYTES));
      digests.push(catalog.toString('hex', at, at + FILE_DIGEST_BYTES));
    }
    yield { digest, digests, sizes };
  }
}

/** The packed files that a replica knows. */
export interface PackTable {
  /** Whether the file still exists. {@link deletePackTable} deletes a damaged one, in any process. */
  readonly isPresent: boolean;
  hasCatalog(key: string): boolean;
  /** Adds the files of a catalog. Other work runs between its packs. */
  add(key: string, catalog: Buffer): Promise<void>;
  close(): void;
}

const fileOf = (folder: string): string => join(folder, 'packs.db');

/** Opens the table in the folder of a replica. A damaged one is created again. */
export function openPackTable(folder: string): PackTable {
  try {
    return new StoredPackTable(fileOf(folder));
  } catch (error) {
    if (!isDamage(error)) throw error;
    deletePackTable(folder);
    return new StoredPackTable(fileOf(folder));
  }
}

/** Deletes the table. The process that follows the index creates it again. */
export function deletePackTable(folder: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(fileOf(folder) + ending, { force: true });
}

class StoredPackTable implements PackTable {
  readonly #file: string;
  readonly #database: DatabaseSyncInstance;

  constructor(file: string) {
    makeDatabasePrivate(file);
    this.#file = file;
    this.#database = new DatabaseSync(file);
    try {
      this.#database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE IF NOT EXISTS catalogs (key TEXT PRIMARY KEY) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS packs (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
         CREATE TABLE IF NOT EXISTS files (digest TEXT PRIMARY KEY, pack INTEGER NOT NULL, start INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID`,
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get isPresent(): boolean {
    return existsSync(this.#file);
  }

  hasCatalog(key: string): boolean {
    return this.#database.prepare('SELECT 1 FROM catalogs WHERE key = ?').get(key) !== undefined;
  }

  async add(key: string, catalog: Buffer): Promise<void> {
    for (const pack of decodePacks(catalog)) {
      this.#addPack(pack);
      await nextTurn();
    }
    this.#database.prepare('INSERT OR IGNORE INTO catalogs VALUES (?)').run(key);
  }

  close(): void {
    this.#database.close();
  }

  #addPack({ digest, digests, sizes }: Pack): void {
    this.#database.exec('BEGIN');
    try {
      const { changes, lastInsertRowid } = this.#database
        .prepare('INSERT OR IGNORE INTO packs (key) VALUES (?)')
        .run(toPackKey(digest));
      const insert = this.#database.prepare('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)');
      let start = 0;
      for (const [index, file] of changes === 0 ? [] : digests.entries()) {
        const bytes = sizes[index] ?? 0;
        insert.run(file, lastInsertRowid, start, bytes);
        start += bytes;
      }
      this.#database.exec('COMMIT');
    } catch (error) {
      // On a full disk SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Returns the part of a pack with the content of this digest, from the table in the folder of a replica. */
function findPackedFile(folder: string, contentDigest: string): PackedFile | undefined {
  const file = fileOf(folder);
  if (!existsSync(file)) return undefined;
  // The follower may run in a different process, and may have replaced the table since the last request.
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const find = 'SELECT key, start, bytes FROM files JOIN packs ON number = pack WHERE digest = ?';
    return database.prepare(find).get(contentDigest) as PackedFile | undefined;
  } finally {
    database.close();
  }
}
