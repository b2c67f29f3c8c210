import { createHash } from 'node:crypto';
import type { Database } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';
import type { ServerKey } from '../../storage/server-key.js';
import { unsealWebhook } from '../settings-row.js';

/** Whose webhook a delivery came to, and what it has to be signed with. */
export interface Receiver {
  readonly personId: string;
  readonly secret: string;
}

const findRow = prepare((database, { hash }: { readonly hash: string }) =>
  database.selectFrom('settings').selectAll().where('webhook_token_hash', '=', hash),
);

/** Finds them by the hash of the path's token, so that the time it takes tells nothing of other tokens. */
export async function findReceiver(database: Database, key: ServerKey, token: string): Promise<Receiver | undefined> {
  const [row] = await findRow(database, { hash: createHash('sha256').update(token).digest('hex') });
  return row && { personId: row.person_id, secret: unsealWebhook(key, row).secret };
}
