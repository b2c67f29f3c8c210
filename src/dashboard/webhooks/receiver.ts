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

interface Asked {
  readonly hash: string;
  readonly at: number;
}

const findRow = prepare((database, { hash, at }: Asked) =>
  database
    .selectFrom('settings')
    .select(['person_id', 'webhook'])
    .where('webhook_token_hash', '=', hash)
    .unionAll(
      database
        .selectFrom('retired_webhooks')
        .select(['person_id', 'webhook'])
        .where('token_hash', '=', hash)
        .where('expires_at', '>', at),
    ),
);

/** Finds them by the hash of the path's token, so that the time it takes tells nothing of other tokens. */
export async function findReceiver(
  database: Database,
  key: ServerKey,
  { token, at }: { readonly token: string; readonly at: number },
): Promise<Receiver | undefined> {
  const [row] = await findRow(database, { hash: createHash('sha256').update(token).digest('hex'), at });
  return row && { personId: row.person_id, secret: unsealWebhook(key, row).secret };
}
