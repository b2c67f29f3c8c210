/** The key pair that identifies this server to push services (VAPID, RFC 8292). */
import { createECDH } from 'node:crypto';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';

/** Both keys in base64url. */
export interface PushKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

export const PUSH_KEYS_CONTEXT = 'push keys';

/** Creates a function that returns the keys of the database, and stores new ones at first. */
export function createPushKeys(database: Database, key: ServerKey): () => Promise<PushKeys> {
  let known: PushKeys | undefined;
  return async () => (known ??= await getOrCreate(database, key));
}

async function getOrCreate(database: Database, key: ServerKey): Promise<PushKeys> {
  const row = await inTransaction(database, async (transaction) => {
    const found = await transaction.selectFrom('push_keys').selectAll().executeTakeFirst();
    if (found !== undefined) return found;
    const { publicKey, privateKey } = generateKeys();
    const created = { id: 1, public_key: publicKey, sealed: key.encrypt(privateKey, PUSH_KEYS_CONTEXT) };
    const insert = transaction.insertInto('push_keys').values(created);
    // Another server may have inserted its keys first.
    await insert.onConflict((conflict) => conflict.column('id').doNothing()).execute();
    return transaction.selectFrom('push_keys').selectAll().executeTakeFirstOrThrow();
  });
  return { publicKey: row.public_key, privateKey: key.decrypt(row.sealed, PUSH_KEYS_CONTEXT) };
}

const PRIVATE_KEY_BYTES = 32;

/** Generates a key pair on P-256. */
function generateKeys(): PushKeys {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys('base64url');
  // Leading zeros are part of the key.
  const privateKey = Buffer.concat([Buffer.alloc(PRIVATE_KEY_BYTES), pair.getPrivateKey()]).subarray(
    -PRIVATE_KEY_BYTES,
  );
  return { publicKey, privateKey: privateKey.toString('base64url') };
}
