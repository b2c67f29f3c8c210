/** The stored form of further credentials. */
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { ForgeCredentialsTable } from '../../storage/tables.js';
import type { ForgeName } from '../forges/forge.js';
import type { StoredCredential } from './forge-settings.js';

interface Sealed {
  readonly username: string;
  readonly token: string;
}

/** The encryption context binds a token to its row and its server: copied elsewhere, it can't be decrypted. */
const contextOf = ({ id, person_id, url }: Pick<ForgeCredentialsTable, 'id' | 'person_id' | 'url'>): string =>
  `credential ${id} of ${person_id} at ${url}`;

export function toCredentialRow(
  key: ServerKey,
  personId: string,
  { credential, at }: { readonly credential: StoredCredential; readonly at: number },
): ForgeCredentialsTable {
  const { id, forge, label, url, username, token } = credential;
  const row = { id, person_id: personId, forge, label, url, created_at: at, saved_at: at };
  const sealed: Sealed = { username, token };
  return { ...row, sealed: key.encrypt(JSON.stringify(sealed), contextOf(row)) };
}

export function toStoredCredential(key: ServerKey, row: ForgeCredentialsTable): StoredCredential {
  const { id, forge, label, url, sealed } = row;
  const { username, token } = JSON.parse(key.decrypt(sealed, contextOf(row))) as Sealed;
  // The cast is safe: only values of the contract are stored.
  return { id, forge: forge as ForgeName, label, url, username, token };
}

/** Lists a user's credentials with their tokens, the oldest first. */
export async function listStoredCredentials(
  database: Database,
  key: ServerKey,
  personId: string,
): Promise<StoredCredential[]> {
  return (await listCredentialRows(database, personId)).map((row) => toStoredCredential(key, row));
}

/** Lists rows in the order of the board. */
export function listCredentialRows(database: Database, personId: string): Promise<ForgeCredentialsTable[]> {
  const own = database.selectFrom('forge_credentials').selectAll().where('person_id', '=', personId);
  return own.orderBy('created_at').orderBy('id').execute();
}

/** Encrypts all tokens again. */
export async function reencryptCredentials(
  transaction: Database,
  renew: (sealed: Uint8Array, context: string) => Uint8Array,
): Promise<void> {
  for (const row of await transaction.selectFrom('forge_credentials').selectAll().execute()) {
    const sealed = renew(row.sealed, contextOf(row));
    await transaction.updateTable('forge_credentials').set({ sealed }).where('id', '=', row.id).execute();
  }
}
