import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.js';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { openObjectStore } from '../../storage/objects/open-store.js';
import { type CheckResult, failed, passed } from './check-result.js';

const CHECK = 'object storage';

/** Lists the bucket of derived files, and stores, reads and deletes an object in it. */
export async function checkObjects({ objects, awsEnvironment }: Config): Promise<CheckResult> {
  if (objects === undefined) return passed(CHECK, 'none; derived files are in the state folder');
  const startedAt = performance.now();
  const store = openObjectStore(objects, awsEnvironment);
  try {
    const isConditional = await probe(store);
    const note = isConditional ? '' : '; it ignores If-None-Match, so servers may store the same image twice';
    return passed(CHECK, `${store.address}, checked in ${Math.ceil(performance.now() - startedAt)} ms${note}`);
  } catch (error) {
    const advice = 'fix TRELLIS_OBJECTS, the AWS_* variables or the bucket; images are still generated and served';
    return failed(CHECK, `${store.address}: ${(error as Error).message}`, advice);
  } finally {
    await store.close();
  }
}

/** @returns whether the server supports conditional writes. @throws ObjectStoreError for the first refused request. */
async function probe(store: ObjectStore): Promise<boolean> {
  const key = `probe-${randomUUID()}`;
  const content = Buffer.from(key);
  for await (const _object of store.list(key)) break;
  await store.put(key, content);
  try {
    const isReplaced = await store.put(key, content, { ifAbsent: true });
    const found = await store.get(key);
    // Reading the body verifies it.
    for await (const _chunk of found?.body ?? []);
    return !isReplaced;
  } finally {
    await store.delete(key);
  }
}
