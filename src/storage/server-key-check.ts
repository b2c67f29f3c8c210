import { inTransaction } from './database.js';
import type { Database } from './database.js';
import type { ServerKey } from './server-key.js';
import { StateFolderError } from './state-folder.js';

/** What is sealed to recognise a key by. */
const TEXT = 'trellis';
const PURPOSE = 'server key check';

/**
 * Makes sure that the database is used with one key, whichever server and
 * folder it comes from; the first one counts.
 *
 * @throws StateFolderError for another key, with which nothing that is sealed could be read.
 */
export async function requireServerKey(database: Database, key: ServerKey): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const known = await transaction.selectFrom('server_key').select('sealed').executeTakeFirst();
    if (known === undefined) {
      await transaction
        .insertInto('server_key')
        .values({ id: 1, sealed: key.seal(TEXT, PURPOSE) })
        .execute();
    } else if (!isSealedWith(key, known.sealed)) {
      throw new StateFolderError(
        'expected the server.key that the database was used with before; copy it from that state folder, or restore a backup',
      );
    }
  });
}

function isSealedWith(key: ServerKey, sealed: Uint8Array): boolean {
  try {
    return key.unseal(sealed, PURPOSE) === TEXT;
  } catch {
    return false;
  }
}
