import { randomUUID } from 'node:crypto';
import { access, constants, readdir, stat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { findStorageFault, isAccessibleToOthers, isDamage, listDamaged } from '@trellis/core/storage';
import { formatProblem, type ProblemReport } from '@trellis/site/sources/problems';
import type { Config } from '../../config/config.js';
import { useAuditKey } from '../../secrets/audit/signatures.js';
import { type Verification, verifyAuditChain } from '../../secrets/audit/verify-chain.js';
import { createCliWorkloadRules, isRestricted } from '../../secrets/workload/rules.js';
import { loadSiteSchema } from '../../site-data/schema.js';
import { openSiteFromConfig } from '../../site-data/start-site.js';
import { listBackups } from '../../storage/backups/schedule.js';
import { openBackupTarget, showBackupPlace } from '../../storage/backups/target.js';
import { connectDatabase, type Database } from '../../storage/database.js';
import { MIGRATIONS, readSchemaVersion } from '../../storage/migrate.js';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { openObjectStore } from '../../storage/objects/s3-store.js';
import {
  findTraceOfDatabase,
  type DatabaseStatus,
  inspectDatabase,
  toDatabaseTarget,
} from '../../storage/open-database.js';
import { createServerKey, findServerKey, SERVER_KEY_FILE, type ServerKey } from '../../storage/server-key.js';
import { isStateFolderInUse, listInterruptedRestores } from '../../storage/state-folder.js';
import { type CheckResult, failed, passed, warning } from './check-result.js';

export async function checkStateFolder({ state }: Config): Promise<CheckResult> {
  const found = await stat(state).catch(() => undefined);
  if (found === undefined) return passed('state', `${state} is created on the first start`);
  const isUsable = await access(state, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => found.isDirectory(),
    () => false,
  );
  if (!isUsable)
    return failed('state', `${state} can't be written`, 'make it writable for this user, or fix TRELLIS_STATE');
  if (isAccessibleToOthers(found.mode))
    return warning('state', `${state} is accessible to other users`, `chmod 700 ${state}`);
  const open = await listOpenDatabases(state);
  if (open.length > 0) {
    const advice = `the next start restricts it; if that fails, run chmod 600 ${open.map((name) => join(state, name)).join(' ')}`;
    return warning('state', `${open.join(', ')} in ${state} can be read by other users`, advice);
  }
  return passed('state', state);
}

/** Lists the database files, including write-ahead logs, that other users can read. */
async function listOpenDatabases(state: string): Promise<string[]> {
  const names = (await readdir(state)).filter((name) => /\.db(-wal|-shm)?$/.test(name));
  const modes = await Promise.all(names.map((name) => stat(join(state, name)).catch(() => undefined)));
  return names.filter((_name, index) => isAccessibleToOthers(modes[index]?.mode ?? 0));
}

export async function checkServer({ state }: Config): Promise<CheckResult & { readonly isRunning: boolean }> {
  const isRunning = await isStateFolderInUse(state);
  return { ...passed('server', isRunning ? 'running on this state folder' : 'not running'), isRunning };
}

/** @param config With the key that its command has printed. */
export async function checkKey({ state, serverKey, serverKeyCommand }: Config): Promise<CheckResult> {
  const file = join(state, SERVER_KEY_FILE);
  const found = await stat(file).catch(() => undefined);
  if (serverKey !== undefined) {
    const source = serverKeyCommand === undefined ? 'TRELLIS_SERVER_KEY' : 'the command of TRELLIS_SERVER_KEY_COMMAND';
    if (found === undefined) return passed('key', `set by ${source}`);
    const unused = `set by ${source}, but ${file} exists and is part of backups`;
    return warning('key', unused, `delete ${file} if ${source} has the key of the database`);
  }
  if (found === undefined) return passed('key', `${SERVER_KEY_FILE} is created on the first start`);
  try {
    await findServerKey(state);
  } catch (error) {
    const advice = `restore ${SERVER_KEY_FILE} from a backup, or copy it from another server of the same database`;
    return failed('key', (error as Error).message, advice);
  }
  if (isAccessibleToOthers(found.mode))
    return failed('key', `${file} is accessible to other users`, `chmod 600 ${file}, and replace the forge tokens`);
  return passed('key', file);
}

const UPGRADE = 'the next start upgrades it; back it up first, with the release that wrote it';

export async function checkDatabase(config: Config): Promise<CheckResult> {
  const key = await readKey(config);
  try {
    const condition = await inspectDatabase(toDatabaseTarget(config), key);
    if (condition === undefined || condition.schema === 'none') return await judgeEmpty(config, condition);
    // A command that has failed has a result of its own.
    const isUnknownKey = key === undefined && config.serverKeyCommand !== undefined;
    return judge(isUnknownKey ? { ...condition, hasDifferentKey: false } : condition);
  } catch (error) {
    return failed(
      'database',
      (error as Error).message,
      config.databaseUrl ? 'fix DATABASE_URL or that server' : adviseOn(error),
    );
  }
}

/** Returns `undefined` for a key that can't be read, and for that of a command that has failed. */
async function readKey({ state, serverKey, serverKeyCommand }: Config): Promise<ServerKey | undefined> {
  if (serverKey !== undefined) return createServerKey(serverKey);
  return serverKeyCommand === undefined ? findServerKey(state).catch(() => undefined) : undefined;
}

/** Only a damaged file needs a backup. */
function adviseOn(error: unknown): string {
  switch (findStorageFault(error)) {
    case 'damaged':
      return 'restore a backup with --force, which keeps the damaged file';
    case 'full':
      return 'free some space';
    case 'failing':
      return 'check the disk, and back up what can still be read';
    default:
      return 'make the state folder and its files writable for this user';
  }
}

/** An empty database is that of a new state folder, or a loss. */
async function judgeEmpty(config: Config, condition: DatabaseStatus | undefined): Promise<CheckResult> {
  const trace = await findTraceOfDatabase(config.state, { isSqlite: config.databaseUrl === undefined });
  if (trace !== undefined) {
    const found = `empty or missing, although ${trace} shows that there was a database`;
    return failed('database', found, 'find the database, or restore a backup; --new-database starts without it');
  }
  return passed(
    'database',
    condition === undefined ? 'SQLite, created on the first start' : `${condition.engine}, empty`,
  );
}

function judge({ engine, schema, damage, userCount, hasDifferentKey }: DatabaseStatus): CheckResult {
  if (damage !== undefined) return failed('database', `${engine} is corrupt: ${damage}`, 'restore a backup');
  if (schema === 'older') return warning('database', `${engine}, with the tables of an older release`, UPGRADE);
  if (schema === 'newer')
    return failed('database', `${engine}, with the tables of a newer release`, 'use that release');
  if (hasDifferentKey) {
    const advice = `copy ${SERVER_KEY_FILE} from the state folder of its other servers, or restore a backup`;
    return failed('database', `${engine}, used with a different ${SERVER_KEY_FILE}`, advice);
  }
  return passed('database', `${engine}, up to date, ${userCount} ${userCount === 1 ? 'user' : 'users'}`);
}

/** Checks the databases of derived data, and the leftovers of interrupted work. */
export async function checkDerivedData({ state }: Config): Promise<CheckResult> {
  const check = 'derived data';
  if ((await stat(state).catch(() => undefined)) === undefined) return passed(check, 'created on the first start');
  const restores = await listInterruptedRestores(state).catch(() => []);
  if (restores.length > 0) {
    const found = `an interrupted restore has left copies of all data in ${restores.join(', ')}`;
    return warning(check, found, 'the next start deletes them');
  }
  const files = await listDerived(state);
  const damaged = files.filter((file) => isDamagedFile(join(state, file)));
  if (damaged.length > 0) {
    return warning(check, `${damaged.join(', ')} is damaged`, 'the server moves it aside and makes it again');
  }
  const moved = [state, join(state, 'site')].flatMap((folder) => listDamagedIn(folder));
  if (moved.length === 0) return passed(check, `${files.length} ${files.length === 1 ? 'database' : 'databases'}`);
  return warning(check, `damaged files were moved aside: ${moved.join(', ')}`, 'check the disk, then delete them');
}

async function listDerived(state: string): Promise<string[]> {
  const records = await readdir(join(state, 'site')).catch(() => []);
  const names = ['images.db', ...records.filter((name) => name.endsWith('.db')).map((name) => join('site', name))];
  const found = await Promise.all(names.map((name) => stat(join(state, name)).catch(() => undefined)));
  return names.filter((_name, index) => (found[index]?.size ?? 0) > 0);
}

function listDamagedIn(folder: string): string[] {
  try {
    return listDamaged(folder);
  } catch {
    // The folder does not exist, or another check reports why it can't be read.
    return [];
  }
}

/** Reads every page of a SQLite file. Any other failure, such as a lock, is not damage. */
function isDamagedFile(file: string): boolean {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const row = database.prepare('pragma quick_check(1)').get() as { readonly quick_check: string };
      return row.quick_check !== 'ok';
    } finally {
      database.close();
    }
  } catch (error) {
    return isDamage(error);
  }
}

const AUDIT_LOG = 'audit log';

/** Verifies the hash chain of the audit log. */
export async function checkAuditLog(config: Config): Promise<CheckResult> {
  try {
    const verification = await readDatabase(config, verifyAuditChain);
    return verification === undefined
      ? passed(AUDIT_LOG, 'not created by this release yet')
      : judgeAuditLog(verification);
  } catch {
    return warning(AUDIT_LOG, "can't be read", 'fix the database first');
  }
}

/** @returns `undefined` without a database, or with a database of a different release. */
async function readDatabase<T>(config: Config, read: (database: Database) => Promise<T>): Promise<T | undefined> {
  const place = toDatabaseTarget(config);
  if ('file' in place && (await stat(place.file).catch(() => undefined)) === undefined) return undefined;
  const key = await readKey(config);
  const database = connectDatabase(place);
  try {
    if ((await readSchemaVersion(database)) !== MIGRATIONS.length) return undefined;
    if (key !== undefined) useAuditKey(database, key);
    return await read(database);
  } finally {
    await database.destroy();
  }
}

function judgeAuditLog({ head, broken, from }: Verification): CheckResult {
  if (broken === undefined) {
    const end = head.count === 0 ? '' : `, whose head is ${head.hash}`;
    const part = from === 1 ? '' : ` (verified from ${from}; "trellis secrets audit --verify --full" verifies all)`;
    return passed(AUDIT_LOG, `${head.count} ${head.count === 1 ? 'entry' : 'entries'}${part}${end}`);
  }
  const advice = 'find out who can write to the database, and compare it with a backup';
  return failed(AUDIT_LOG, `entry ${broken.id} is ${broken.reason}`, advice);
}

const WORKLOAD_RULES = 'workload rules';

/** Finds rules that an earlier release accepted, although workloads of other owners match them. */
export async function checkWorkloadRules(config: Config): Promise<CheckResult> {
  try {
    const rules = (await readDatabase(config, (database) => createCliWorkloadRules(database).list())) ?? [];
    const open = rules.filter(({ claims }) => !isRestricted(claims)).map(({ name }) => name);
    if (open.length === 0) return passed(WORKLOAD_RULES, String(rules.length));
    const found = `workloads of other owners may match ${open.join(', ')}`;
    return warning(WORKLOAD_RULES, found, 'replace each by a rule with a claim that names the owner');
  } catch {
    return warning(WORKLOAD_RULES, "can't be read", 'fix the database first');
  }
}

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
    return judgeSite(config.site, await readProblems(config, recordsDirectory));
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
  const done = new AbortController();
  try {
    // The timer keeps the process alive, which the work of the site in the background does not.
    await Promise.race([site.firstCheck, sleep(SCAN_TIMEOUT_MS, undefined, { signal: done.signal })]);
    return site.problems();
  } finally {
    done.abort();
    site.close();
  }
}

function judgeSite(site: string, { entries, count }: ProblemReport): CheckResult {
  if (count === 0) return passed(SITE, site);
  const lines = entries.slice(0, MAX_SHOWN).map((problem) => `\n      ${formatProblem(problem)}`);
  const more = count > lines.length ? `\n      and ${(count - lines.length).toLocaleString('en')} more` : '';
  const found = `${site} has ${count.toLocaleString('en')} ${count === 1 ? 'problem' : 'problems'}:${lines.join('')}${more}`;
  return warning(SITE, found, 'the server skips these and serves the rest');
}

const BACKUPS = 'backups';

/** Looks for the newest scheduled backup. */
export async function checkBackups({ backup, backupHours, state, awsEnvironment }: Config): Promise<CheckResult> {
  if (backup === undefined) return passed(BACKUPS, 'not scheduled');
  const place = showBackupPlace(backup);
  const advice = `see the log of the server, which creates one every ${backupHours} hours while it runs`;
  try {
    const [newest, ...others] = await listBackups(
      await openBackupTarget(backup, { folder: state, env: awsEnvironment }),
    );
    if (newest === undefined) return warning(BACKUPS, `none in ${place}`, advice);
    const hours = Math.floor((Date.now() - newest.writtenAt.getTime()) / 3_600_000);
    const found = `${others.length + 1} in ${place}, the newest of ${newest.writtenAt.toISOString()}`;
    return hours < 2 * backupHours ? passed(BACKUPS, found) : warning(BACKUPS, `${found}, ${hours} hours ago`, advice);
  } catch (error) {
    const { message, cause } = error as Error;
    // The first backup creates the folder.
    if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
      return warning(BACKUPS, `none in ${place}`, advice);
    return failed(
      BACKUPS,
      message,
      'fix TRELLIS_BACKUP, the AWS_* variables, or the permissions of the folder or bucket',
    );
  }
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
