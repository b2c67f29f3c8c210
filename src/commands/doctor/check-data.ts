import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { readCondition } from '../../storage/condition.js';
import type { DatabaseCondition } from '../../storage/condition.js';
import { placeOf } from '../../storage/place.js';
import { isOpenToOthers } from '../../storage/private-file.js';
import { SERVER_KEY_FILE, findServerKey } from '../../storage/server-key.js';
import { isStateFolderTaken } from '../../storage/state-folder.js';
import { fail, ok, warn } from './finding.js';
import type { Finding } from './finding.js';

export async function checkStateFolder({ state }: Config): Promise<Finding> {
  const found = await stat(state).catch(() => undefined);
  if (found === undefined) return ok('state', `${state} is created on the first start`);
  const isUsable = await access(state, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => found.isDirectory(),
    () => false,
  );
  if (!isUsable)
    return fail('state', `${state} can't be written`, 'make it writable for this user, or fix TRELLIS_STATE');
  if (isOpenToOthers(found.mode)) return warn('state', `${state} is accessible to other users`, `chmod 700 ${state}`);
  const open = await listOpenDatabases(state);
  if (open.length > 0) {
    const advice = `the next start restricts it; if that fails, run chmod 600 ${open.map((name) => join(state, name)).join(' ')}`;
    return warn('state', `${open.join(', ')} in ${state} can be read by other users`, advice);
  }
  return ok('state', state);
}

/** Lists the database files, including write-ahead logs, that other users can read. */
async function listOpenDatabases(state: string): Promise<string[]> {
  const names = (await readdir(state)).filter((name) => /\.db(-wal|-shm)?$/.test(name));
  const modes = await Promise.all(names.map((name) => stat(join(state, name)).catch(() => undefined)));
  return names.filter((_name, index) => isOpenToOthers(modes[index]?.mode ?? 0));
}

export async function checkServer({ state }: Config): Promise<Finding & { readonly isRunning: boolean }> {
  const isRunning = await isStateFolderTaken(state);
  return { ...ok('server', isRunning ? 'running on this state folder' : 'not running'), isRunning };
}

export async function checkKey({ state }: Config): Promise<Finding> {
  const file = join(state, SERVER_KEY_FILE);
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return ok('key', `${SERVER_KEY_FILE} is created on the first start`);
  try {
    await findServerKey(state);
  } catch (error) {
    return fail('key', (error as Error).message, 'restore a backup');
  }
  if (isOpenToOthers(found.mode))
    return fail('key', `${file} is accessible to other users`, `chmod 600 ${file}, and replace the forge tokens`);
  return ok('key', file);
}

const UPGRADE = 'the next start upgrades it; back it up first, with the release that wrote it';

export async function checkDatabase(config: Config): Promise<Finding> {
  const key = await findServerKey(config.state).catch(() => undefined);
  try {
    const condition = await readCondition(placeOf(config), key);
    return condition === undefined ? ok('database', 'SQLite, created on the first start') : judge(condition);
  } catch (error) {
    return fail(
      'database',
      (error as Error).message,
      config.databaseUrl ? 'fix DATABASE_URL or that server' : 'restore a backup',
    );
  }
}

function judge({ engine, schema, damage, people, isOfOtherKey }: DatabaseCondition): Finding {
  if (damage !== undefined) return fail('database', `${engine} is corrupt: ${damage}`, 'restore a backup');
  if (schema === 'none') return ok('database', `${engine}, empty`);
  if (schema === 'older') return warn('database', `${engine}, with the tables of an older release`, UPGRADE);
  if (schema === 'newer') return fail('database', `${engine}, with the tables of a newer release`, 'use that release');
  if (isOfOtherKey) {
    const advice = `copy ${SERVER_KEY_FILE} from the state folder of its other servers, or restore a backup`;
    return fail('database', `${engine}, used with a different ${SERVER_KEY_FILE}`, advice);
  }
  return ok('database', `${engine}, up to date, ${people} ${people === 1 ? 'user' : 'users'}`);
}
