/** Backups in a bucket. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ArchiveError, toWorkPrefix } from '../backups/archive.js';
import type { BackupTarget, BackupTargetOptions, StoredBackup } from '../backups/target.js';
import { type ObjectInfo, type ObjectStore, ObjectStoreError } from './object-store.js';
import { parseS3Url } from './s3-location.js';
import { openObjectStore } from './s3-store.js';

/**
 * Opens the bucket of an address such as `s3://bucket/backups`.
 *
 * @throws ArchiveError for an invalid address or endpoint.
 * @param options `folder` contains the temporary file of a backup that is stored, which is as secret as the backup.
 */
export function createBucketTarget(url: string, { folder, env }: BackupTargetOptions): BackupTarget {
  assertAddress(url, env);

  /** @throws ArchiveError that names the address. */
  async function withStore<T>(use: (store: ObjectStore) => Promise<T>): Promise<T> {
    const store = openObjectStore(url, env);
    try {
      return await use(store);
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      throw new ArchiveError(`${store.address}: ${error.message.replace(/\.$/, '')}`, { cause: error });
    } finally {
      await store.close();
    }
  }

  return {
    write: (name, content, { overwrite, signal }) =>
      withStore(async (store) => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const temporary = await mkdtemp(join(folder, toWorkPrefix(process.pid)));
        try {
          const file = join(temporary, 'archive');
          await pipeline(content, createWriteStream(file, { mode: 0o600 }), { signal });
          const isStored = await store.put(name, { file }, { ifAbsent: !overwrite, signal });
          // A repeated request may find the object of the first, whose response was lost.
          if (await isSame(await store.head(name), file)) return;
          if (!isStored) throw new ArchiveError(`${store.address}/${name} already exists`);
          throw new ArchiveError(`${store.address}/${name} differs from the backup. Repeat the backup`);
        } finally {
          await rm(temporary, { recursive: true, force: true });
        }
      }),
    async read(name) {
      const store = openObjectStore(url, env);
      const found = await store.get(name).catch((cause: unknown) => {
        throw new ArchiveError(`${store.address}: ${(cause as Error).message}`, { cause });
      });
      if (found === undefined) throw new ArchiveError(`No backup at ${store.address}/${name}`);
      return Readable.from(found.body).once('close', () => void store.close());
    },
    find: (name) =>
      withStore(async (store) => {
        const found = await store.head(name);
        return found && toStoredBackup(found);
      }),
    list: () =>
      withStore(async (store) => {
        const found: StoredBackup[] = [];
        for await (const object of store.list('')) found.push(toStoredBackup(object));
        return found;
      }),
    remove: (name) => withStore((store) => store.delete(name)),
  };
}

function assertAddress(url: string, env: BackupTargetOptions['env']): void {
  try {
    parseS3Url(url, env);
  } catch (cause) {
    throw new ArchiveError(`${url.replace(/\?.*$/, '')}: ${(cause as Error).message}`, { cause });
  }
}

const toStoredBackup = ({ key, bytes, modifiedAt }: ObjectInfo): StoredBackup => ({
  name: key,
  bytes,
  writtenAt: modifiedAt,
});

async function isSame(stored: ObjectInfo | undefined, file: string): Promise<boolean> {
  if (stored?.bytes !== (await stat(file)).size) return false;
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return stored.sha256 === undefined || stored.sha256 === digest.digest('hex');
}
