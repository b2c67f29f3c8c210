/** The files of a site in a bucket, from which replicas read them. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { isDamage } from '@trellis/core/storage-faults';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { ObjectStoreError } from '../../storage/objects/store-errors.js';
import { toFileKey } from './index-head.js';
import { deletePackTable, findPackedFile } from './packs.js';

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
