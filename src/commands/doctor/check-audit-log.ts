import { stat } from 'node:fs/promises';
import type { Config } from '../../config.js';
import { verifyAudit } from '../../secrets/verify-audit.js';
import type { Verification } from '../../secrets/verify-audit.js';
import { connectDatabase } from '../../storage/database.js';
import type { DatabasePlace } from '../../storage/database.js';
import { MIGRATIONS, findVersion } from '../../storage/migrate.js';
import { placeOf } from '../../storage/place.js';
import { fail, ok, warn } from './finding.js';
import type { Finding } from './finding.js';

const CHECK = 'audit log';

/** Verifies the hash chain of the audit log. */
export async function checkAuditLog(config: Config): Promise<Finding> {
  try {
    const verification = await verify(placeOf(config));
    return verification === undefined ? ok(CHECK, 'not created by this release yet') : judge(verification);
  } catch {
    return warn(CHECK, "can't be read", 'fix the database first');
  }
}

/** @returns `undefined` without a database, or with a database of a different release. */
async function verify(place: DatabasePlace): Promise<Verification | undefined> {
  if ('file' in place && (await stat(place.file).catch(() => undefined)) === undefined) return undefined;
  const database = connectDatabase(place);
  try {
    return (await findVersion(database)) === MIGRATIONS.length ? await verifyAudit(database) : undefined;
  } finally {
    await database.destroy();
  }
}

function judge({ head, broken }: Verification): Finding {
  if (broken === undefined) {
    const end = head.count === 0 ? '' : `, whose head is ${head.hash}`;
    return ok(CHECK, `${head.count} ${head.count === 1 ? 'entry' : 'entries'}${end}`);
  }
  const advice = 'find out who can write to the database, and compare it with a backup';
  return fail(CHECK, `entry ${broken.id} is ${broken.reason}`, advice);
}
