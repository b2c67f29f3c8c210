import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatProblem, type ProblemReport } from '@trellis/site/sources/problems';
import type { Config } from '../../config/config.js';
import { loadSiteSchema } from '../../site-data/schema.js';
import { openSiteFromConfig } from '../../site-data/start-site.js';
import { openObjectStore } from '../../storage/objects/open-store.js';
import { type CheckResult, failed, passed, warning } from './check-result.js';

const CHECK = 'site';

/** The number of problems that are listed. */
const MAX_SHOWN = 10;

/** Enough for some hundred thousand files. A larger site is checked by its server. */
const SCAN_TIMEOUT_MS = 60_000;

/** Scans the site as the server does, into a temporary folder, and reports the entries that it would skip. */
export async function checkSite(config: Config): Promise<CheckResult> {
  if (!config.services.includes('site')) return passed(CHECK, 'not an enabled service');
  if (config.siteIndex !== undefined) return checkIndex(config.siteIndex, config);
  const recordsDirectory = await mkdtemp(join(tmpdir(), 'trellis-doctor-'));
  try {
    return judge(config.site, await readProblems(config, recordsDirectory));
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') {
      return warning(CHECK, `${config.site} takes more than a minute to scan`, 'see "site" in the response of /readyz');
    }
    const advice = 'fix TRELLIS_SITE, or remove site from TRELLIS_SERVICES';
    return failed(CHECK, `${config.site}: ${(error as Error).message}`, advice);
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
    return head === undefined ? failed(CHECK, `no index at ${site}`, advice) : passed(CHECK, `an index at ${site}`);
  } catch (error) {
    return failed(CHECK, `${site}: ${(error as Error).message}`, 'check the AWS_* variables and the bucket');
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
  if (count === 0) return passed(CHECK, site);
  const lines = entries.slice(0, MAX_SHOWN).map((problem) => `\n      ${formatProblem(problem)}`);
  const more = count > lines.length ? `\n      and ${(count - lines.length).toLocaleString('en')} more` : '';
  const found = `${site} has ${count.toLocaleString('en')} ${count === 1 ? 'problem' : 'problems'}:${lines.join('')}${more}`;
  return warning(CHECK, found, 'the server skips these and serves the rest');
}
