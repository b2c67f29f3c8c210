import { inTransaction } from './database.js';
import type { Database } from './database.js';
import type { ServerKey } from './server-key.js';
import { StateFolderError } from './state-folder.js';

/** A known text. A key is recognised by its ability to decrypt the stored ciphertext of it. */
const TEXT = 'trellis';
const PURPOSE = 'server key check';

/**
 * Ensures that all servers use the database with the same key. The first server stores a check value.
 *
 * @throws StateFolderError for a different key, which can't decrypt the stored data.
 */
export async function assertServerKey(database: Database, key: ServerKey): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const known = await transaction.selectFrom('server_key').select('sealed').executeTakeFirst();
    if (known === undefined) {
      await transaction
        .insertInto('server_key')
        .values({ id: 1, sealed: key.encrypt(TEXT, PURPOSE) })
        .execute();
    } else if (!isEncryptedWith(key, known.sealed)) {
      throw new StateFolderError(
        'server.key differs from the key of the database; copy the key from its state folder, or restore a backup',
      );
    }
  });
}

function isEncryptedWith(key: ServerKey, sealed: Uint8Array): boolean {
  try {
    return key.decrypt(sealed, PURPOSE) === TEXT;
  } catch {
    return false;
  }
}
