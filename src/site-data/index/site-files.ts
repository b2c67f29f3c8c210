/** The files of a site in a bucket, from which replicas read them. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { ObjectStoreError } from '../../storage/objects/store-errors.js';
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

/** The limit for the response, and for a whole file at about 1 MB/s. */
const FETCH_MS = 60_000;

export function openSiteFiles(store: ObjectStore): SiteFiles {
  const limit = limitConcurrency(MAX_FETCHES);
  return {
    fetch: (contentDigest, target) => limit(() => fetchFile(store, contentDigest, target)),
    close: () => store.close(),
  };
}

async function fetchFile(store: ObjectStore, contentDigest: string, target: string): Promise<void> {
  const key = toFileKey(contentDigest);
  try {
    const signal = AbortSignal.timeout(FETCH_MS);
    const found = await store.get(key, { signal });
    if (found === undefined) throw new ObjectStoreError(`${store.address}/${key} is missing.`, { isTemporary: true });
    await pipeline(Readable.from(found.body), createWriteStream(target, { mode: 0o600 }), { signal });
    if ((await digestOf(target)) !== contentDigest)
      throw new ObjectStoreError(`${store.address}/${key} is damaged.`, { isTemporary: false });
  } catch (cause) {
    await rm(target, { force: true });
    const isStore = cause instanceof ObjectStoreError || (cause as Error).name === 'TimeoutError';
    if (!isStore) throw cause;
    const headers = { 'Retry-After': '5' };
    throw new AppError('unavailable', 'The file can’t be read from the bucket of the site now. Retry later.', {
      cause,
      headers,
    });
  }
}

/** Returns the MD5 of a file in hexadecimal, as records of files contain it. */
export async function digestOf(file: string): Promise<string> {
  const digest = createHash('md5');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}
