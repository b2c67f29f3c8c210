import { stat } from 'node:fs/promises';
import type { Config } from '../../config.js';
import { verifyAuditChain } from '../../secrets/verify-audit-chain.js';
import type { Verification } from '../../secrets/verify-audit-chain.js';
import { connectDatabase } from '../../storage/database.js';
import type { DatabaseTarget } from '../../storage/database.js';
import { MIGRATIONS, readSchemaVersion } from '../../storage/migrate.js';
import { toDatabaseTarget } from '../../storage/open-database.js';
import { failed, passed, warning } from './check-result.js';
import type { CheckResult } from './check-result.js';

const CHECK = 'audit log';

/** Verifies the hash chain of the audit log. */
export async function checkAuditLog(config: Config): Promise<CheckResult> {
  try {
    const verification = await verify(toDatabaseTarget(config));
    return verification === undefined ? passed(CHECK, 'not created by this release yet') : judge(verification);
  } catch {
    return warning(CHECK, "can't be read", 'fix the database first');
  }
}

/** @returns `undefined` without a database, or with a database of a different release. */
async function verify(place: DatabaseTarget): Promise<Verification | undefined> {
  if ('file' in place && (await stat(place.file).catch(() => undefined)) === undefined) return undefined;
  const database = connectDatabase(place);
  try {
    return (await readSchemaVersion(database)) === MIGRATIONS.length ? await verifyAuditChain(database) : undefined;
  } finally {
    await database.destroy();
  }
}

function judge({ head, broken }: Verification): CheckResult {
  if (broken === undefined) {
    const end = head.count === 0 ? '' : `, whose head is ${head.hash}`;
    return passed(CHECK, `${head.count} ${head.count === 1 ? 'entry' : 'entries'}${end}`);
  }
  const advice = 'find out who can write to the database, and compare it with a backup';
  return failed(CHECK, `entry ${broken.id} is ${broken.reason}`, advice);
}
