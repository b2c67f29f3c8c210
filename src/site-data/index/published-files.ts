import { randomUUID } from 'node:crypto';
import { constants, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { limitConcurrency } from '@trellis/core/concurrency';
import { makeDatabasePrivate } from '@trellis/core/private-file';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { toFileKey } from './index-head.js';
import { digestOf } from './site-files.js';

/** A file of the site, as its record describes it. */
export interface SiteFile {
  readonly absolutePath: string;
  readonly contentDigest: string;
}

/** The files that this server has stored in the bucket, and its identity as a publisher. */
export interface PublishedFiles {
  /** Identifies the state folder of this publisher. */
  readonly id: string;
  /** Whether nothing is known about the bucket, so that every file has to be stored or found there. */
  readonly isNew: boolean;
  /** Stores the files that the bucket lacks. A file that was changed or deleted meanwhile is left out. */
  add(files: Iterable<SiteFile>, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Small files wait for the bucket most of the time. */
const MAX_UPLOADS = 16;

/** The digest of a whole file, and none of a large one that has not been read yet. */
const DIGEST = /^[0-9a-f]{32}$/;

/** @param folder Contains the list of stored files, and the temporary file of each upload. */
export function openPublishedFiles(store: ObjectStore, folder: string, name: string): PublishedFiles {
  const file = join(folder, `published-${name}.db`);
  makeDatabasePrivate(file);
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
     CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS files (digest TEXT PRIMARY KEY) WITHOUT ROWID`,
  );
  const known = database.prepare(`SELECT value FROM facts WHERE key = 'id'`).get() as { value: string } | undefined;
  const id = known?.value ?? randomUUID();
  if (known === undefined) database.prepare(`INSERT INTO facts VALUES ('id', ?)`).run(id);
  const find = database.prepare('SELECT 1 FROM files WHERE digest = ?');
  const insert = database.prepare('INSERT OR IGNORE INTO files VALUES (?)');
  const limit = limitConcurrency(MAX_UPLOADS);

  async function upload({ absolutePath, contentDigest }: SiteFile, signal: AbortSignal): Promise<void> {
    const copy = join(folder, `publish-${randomUUID()}`);
    try {
      // The original may change while it is sent.
      await copyFile(absolutePath, copy, constants.COPYFILE_FICLONE);
      if ((await digestOf(copy)) !== contentDigest) return;
      await store.put(toFileKey(contentDigest), { file: copy }, { ifAbsent: true, signal });
      insert.run(contentDigest);
    } catch (error) {
      if (!['EACCES', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    } finally {
      await rm(copy, { force: true });
    }
  }

  return {
    id,
    isNew: known === undefined,
    async add(files, signal) {
      const uploads = new Set<Promise<void>>();
      const failures: unknown[] = [];
      const under = new Set<string>();
      for (const next of files) {
        const { contentDigest } = next;
        if (!DIGEST.test(contentDigest) || under.has(contentDigest) || find.get(contentDigest) !== undefined) continue;
        under.add(contentDigest);
        const done: Promise<void> = limit(() => upload(next, signal))
          .catch((error: unknown) => void failures.push(error))
          .finally(() => {
            uploads.delete(done);
            under.delete(contentDigest);
          });
        uploads.add(done);
        if (uploads.size >= 2 * MAX_UPLOADS) await Promise.race(uploads);
        if (failures.length > 0) break;
      }
      await Promise.all(uploads);
      if (failures.length > 0) throw failures[0];
    },
    close: () => database.close(),
  };
}
