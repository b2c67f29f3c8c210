import { createHash } from 'node:crypto';
import type { Database } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';
import type { ServerKey } from '../../storage/server-key.js';
import { decryptWebhook } from '../settings-row.js';

/** The owner of a webhook, and the secret of its signatures. */
export interface WebhookOwner {
  readonly personId: string;
  readonly secret: string;
}

interface TokenLookup {
  readonly hash: string;
  readonly at: number;
}

const findRow = prepare((database, { hash, at }: TokenLookup) =>
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

/** Looks up the token by its hash, so that the duration reveals nothing about other tokens. */
export async function findWebhookOwner(
  database: Database,
  key: ServerKey,
  { token, at }: { readonly token: string; readonly at: number },
): Promise<WebhookOwner | undefined> {
  const [row] = await findRow(database, { hash: createHash('sha256').update(token).digest('hex'), at });
  return row && { personId: row.person_id, secret: decryptWebhook(key, row).secret };
}
