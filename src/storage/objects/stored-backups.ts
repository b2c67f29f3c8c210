import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ArchiveContents, ArchiveError } from '../backup-archive.js';
import type { ObjectInfo, ObjectStore } from './object-store.js';
import { openObjectStore } from './open-store.js';
import type { AwsEnvironment } from './s3-location.js';
import { ObjectStoreError } from './store-errors.js';

interface StoredBackup {
  /** `s3://bucket/prefix/name`; a name is added to an address that ends with `/`. */
  readonly url: string;
  readonly env: AwsEnvironment;
}

interface StoreOptions extends StoredBackup {
  /** The folder of the temporary file, which is as secret as the backup. */
  readonly state: string;
  readonly force: boolean;
}

/**
 * Stores a backup and compares the stored size and digest.
 *
 * @param create Writes the backup to a new file.
 * @returns its contents and its address.
 * @throws ArchiveError if a backup of this name exists; ObjectStoreError if the bucket refuses.
 */
export async function storeBackup(
  backup: StoreOptions,
  create: (file: string) => Promise<ArchiveContents>,
): Promise<{ contents: ArchiveContents; target: string }> {
  const { state, force } = backup;
  return withStore(backup, async (store, name) => {
    const key = name === '' ? `trellis-${new Date().toISOString().replaceAll(':', '-')}.backup` : name;
    // Reports a wrong address before the backup is written.
    if ((await store.head(key)) !== undefined && !force) throw existing(store, key);
    await mkdir(state, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(state, 'backup-'));
    try {
      const file = join(folder, 'archive.db');
      const contents = await create(file);
      const isStored = await store.put(key, { file }, { ifAbsent: !force });
      // A repeated request may find the object of the first, whose response was lost.
      if (!(await isSame(await store.head(key), file))) throw isStored ? different(store, key) : existing(store, key);
      return { contents, target: `${store.address}/${key}` };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

const existing = (store: ObjectStore, key: string): ArchiveError =>
  new ArchiveError(`${store.address}/${key} already exists. Use --force to overwrite it`);

const different = (store: ObjectStore, key: string): ArchiveError =>
  new ArchiveError(`${store.address}/${key} differs from the backup. Repeat the backup`);

async function isSame(stored: ObjectInfo | undefined, file: string): Promise<boolean> {
  if (stored?.bytes !== (await stat(file)).size) return false;
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return stored.sha256 === undefined || stored.sha256 === digest.digest('hex');
}

/** Writes a stored backup to a file. @throws ArchiveError if it does not exist. */
export async function fetchBackup(backup: StoredBackup, target: string): Promise<void> {
  await withStore(backup, async (store, key) => {
    const found = await store.get(key);
    if (found === undefined) throw new ArchiveError(`No backup at ${store.address}/${key}`);
    await pipeline(Readable.from(found.body), createWriteStream(target, { mode: 0o600, flush: true }));
  });
}

/** Lists the objects below an address, the oldest first. */
export async function listBackups(backup: StoredBackup): Promise<ObjectInfo[]> {
  return withStore(backup, async (store, prefix) => {
    const found: ObjectInfo[] = [];
    for await (const object of store.list(prefix)) found.push({ ...object, key: `${store.address}/${object.key}` });
    return found.sort((one, other) => one.modifiedAt.getTime() - other.modifiedAt.getTime());
  });
}

/** @throws ObjectStoreError that names the address. */
async function withStore<T>({ url, env }: StoredBackup, use: (store: ObjectStore, name: string) => Promise<T>) {
  const [, folder = url, name = '', query = ''] = /^(s3:\/\/[^/?]+(?:\/[^?]*)?)\/([^/?]*)(\?.*)?$/.exec(url) ?? [];
  const store = openObjectStore(`${folder}${query}`, env);
  try {
    return await use(store, decodeURIComponent(name));
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    throw new ArchiveError(`${store.address}: ${error.message.replace(/\.$/, '')}`, { cause: error });
  } finally {
    await store.close();
  }
}
