import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatProblem, type ProblemReport } from '@trellis/site/sources/problems';
import type { Config } from '../../config/config.js';
import { loadSiteSchema } from '../../site-data/schema.js';
import { openSiteFromConfig } from '../../site-data/start-site.js';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { openObjectStore } from '../../storage/objects/s3-store.js';
import { type CheckResult, failed, passed, warning } from './check-result.js';

const SITE = 'site';

/** The number of problems that are listed. */
const MAX_SHOWN = 10;

/** Enough for some hundred thousand files. A larger site is checked by its server. */
const SCAN_TIMEOUT_MS = 60_000;

/** Scans the site as the server does, into a temporary folder, and reports the entries that it would skip. */
export async function checkSite(config: Config): Promise<CheckResult> {
  if (!config.services.includes('site')) return passed(SITE, 'not an enabled service');
  if (config.siteIndex !== undefined) return checkIndex(config.siteIndex, config);
  const recordsDirectory = await mkdtemp(join(tmpdir(), 'trellis-doctor-'));
  try {
    return judge(config.site, await readProblems(config, recordsDirectory));
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') {
      return warning(SITE, `${config.site} takes more than a minute to scan`, 'see "site" in the response of /readyz');
    }
    const advice = 'fix TRELLIS_SITE, or remove site from TRELLIS_SERVICES';
    return failed(SITE, `${config.site}: ${(error as Error).message}`, advice);
  } finally {
    await rm(recordsDirectory, { recursive: true, force: true });
  }
}

/** Reads the head of the index that another server publishes. */
async function checkIndex(site: string, { awsEnvironment }: Config): Promise<CheckResult> {
  const store = openObjectStore(site, awsEnvironment);
  try {
    const head = await store.head('head.json', AbortSignal.timeout(INDEX_TIMEOUT_MS));
    const advice = 'start the server with TRELLIS_SITE_PUBLISH, or correct the address';
    return head === undefined ? failed(SITE, `no index at ${site}`, advice) : passed(SITE, `an index at ${site}`);
  } catch (error) {
    return failed(SITE, `${site}: ${(error as Error).message}`, 'check the AWS_* variables and the bucket');
  } finally {
    await store.close();
  }
}

const INDEX_TIMEOUT_MS = 10_000;

async function readProblems(config: Config, recordsDirectory: string): Promise<ProblemReport> {
  const signal = AbortSignal.timeout(SCAN_TIMEOUT_MS);
  // A watched site reads large files later, but this process ends before.
  const site = await openSiteFromConfig(config, {
    schema: await loadSiteSchema(config.project),
    recordsDirectory,
    signal,
    watch: {},
  });
  try {
    return site.problems();
  } finally {
    site.close();
  }
}

function judge(site: string, { entries, count }: ProblemReport): CheckResult {
  if (count === 0) return passed(SITE, site);
  const lines = entries.slice(0, MAX_SHOWN).map((problem) => `\n      ${formatProblem(problem)}`);
  const more = count > lines.length ? `\n      and ${(count - lines.length).toLocaleString('en')} more` : '';
  const found = `${site} has ${count.toLocaleString('en')} ${count === 1 ? 'problem' : 'problems'}:${lines.join('')}${more}`;
  return warning(SITE, found, 'the server skips these and serves the rest');
}

const OBJECT_STORAGE = 'object storage';

/** Lists the bucket of derived files, and stores, reads and deletes an object in it. */
export async function checkObjects({ objects, awsEnvironment }: Config): Promise<CheckResult> {
  if (objects === undefined) return passed(OBJECT_STORAGE, 'none; derived files are in the state folder');
  const startedAt = performance.now();
  const store = openObjectStore(objects, awsEnvironment);
  try {
    const isConditional = await probe(store);
    const note = isConditional ? '' : '; it ignores If-None-Match, so servers may store the same image twice';
    return passed(OBJECT_STORAGE, `${store.address}, checked in ${Math.ceil(performance.now() - startedAt)} ms${note}`);
  } catch (error) {
    const advice = 'fix TRELLIS_OBJECTS, the AWS_* variables or the bucket; images are still generated and served';
    return failed(OBJECT_STORAGE, `${store.address}: ${(error as Error).message}`, advice);
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
