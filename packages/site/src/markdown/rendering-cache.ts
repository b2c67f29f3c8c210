import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { moveDamagedAside } from '@trellis/core/damaged-file';
import { makeDatabasePrivate } from '@trellis/core/private-file';
import { isDamage } from '@trellis/core/storage-faults';
import { LRUCache } from 'lru-cache';

/** Stores renderings by the digest of their text and settings, in memory and in a file. */
export interface RenderingCache {
  find(key: string): unknown;
  put(key: string, value: object | string): void;
  close(): void;
}

export interface RenderingCacheOptions {
  /** The folder of the file, or `undefined` to use memory only. */
  readonly directory: string | undefined;
  /** The size of all stored renderings, in characters of JSON. The oldest are deleted beyond it. */
  readonly maxSize?: number;
}

/** About 20,000 texts of average length. */
const MAX_SIZE = 128 * 1024 * 1024;

/** About 3,000 texts of average length. */
const MAX_IN_MEMORY = 16 * 1024 * 1024;

/** The part of the cache that is left after old renderings were deleted. */
const LEFT = 0.9;

export function openRenderingCache({ directory, maxSize = MAX_SIZE }: RenderingCacheOptions): RenderingCache {
  const memory = new LRUCache<string, { readonly value: object | string; readonly size: number }>({
    max: 50_000,
    maxSize: MAX_IN_MEMORY,
    sizeCalculation: ({ size }, key) => size + key.length,
  });
  const disk = directory === undefined ? undefined : ignoreFaults(() => openFile(directory, maxSize));
  return {
    find(key) {
      const known = memory.get(key);
      if (known) return known.value;
      const json = ignoreFaults(() => disk?.find(key));
      if (json === undefined) return undefined;
      const value = JSON.parse(json) as object | string;
      memory.set(key, { value, size: json.length });
      return value;
    },
    put(key, value) {
      const json = JSON.stringify(value);
      memory.set(key, { value, size: json.length });
      ignoreFaults(() => disk?.put(key, json));
    },
    close() {
      disk?.close();
    },
  };
}

/** A full disk or a damaged file costs time only, as every rendering can be made again. */
function ignoreFaults<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

interface RenderingFile {
  find(key: string): string | undefined;
  put(key: string, json: string): void;
  close(): void;
}

function openFile(directory: string, maxSize: number): RenderingFile {
  const file = path.join(directory, 'markdown.db');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  makeDatabasePrivate(file);
  const database = openOrReplace(file);
  const select = database.prepare('SELECT value FROM rendering WHERE key = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO rendering (key, value) VALUES (?, ?)');
  const total = (): number => (database.prepare(SIZE).get() as { size: number }).size;
  let size = total();
  return {
    find: (key) => (select.get(key) as { value: string } | undefined)?.value,
    put(key, json) {
      insert.run(key, json);
      size += json.length;
      if (size <= maxSize) return;
      database.prepare(DELETE_OLDEST).run(Math.floor(maxSize * LEFT));
      size = total();
    },
    close: () => database.close(),
  };
}

const TABLE = 'CREATE TABLE IF NOT EXISTS rendering (number INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT NOT NULL)';

const SIZE = 'SELECT coalesce(sum(length(value)), 0) AS size FROM rendering';

/** Keeps the latest renderings up to a size. */
const DELETE_OLDEST = `DELETE FROM rendering WHERE number <= coalesce((SELECT number FROM
  (SELECT number, sum(length(value)) OVER (ORDER BY number DESC) AS size FROM rendering) WHERE size > ? LIMIT 1), 0)`;

function openOrReplace(file: string): DatabaseSyncInstance {
  try {
    return open(file);
  } catch (error) {
    if (!isDamage(error)) throw error;
    moveDamagedAside(file);
    return open(file);
  }
}

function open(file: string): DatabaseSyncInstance {
  const database = new DatabaseSync(file);
  try {
    // Several processes of a server share the file. A power failure may lose the latest renderings.
    database.exec(`PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${TABLE}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
