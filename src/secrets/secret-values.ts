/** The current and previous values of secrets. All functions run in the caller's transaction. */
import type { Database } from '../storage/database.js';
import { prepare, prepareInsert } from '../storage/prepared.js';
import type { Actor } from './actor.js';
import type { SealedValue } from './sealed-value.js';
import type { SecretTableRow } from './variants.js';

/** The number of previous values, enough to undo several bad rotations. With values of 1 MiB, a secret has 11 MiB. */
const MAX_REPLACED = 10;

/** A value to store, with its recipients, author and time. */
export interface NewSealedValue extends SealedValue {
  /** The recorded public keys; may be incomplete. */
  readonly recipients: readonly string[];
  readonly by: Actor;
  readonly at: number;
}

interface ValueKey {
  readonly objectId: string;
  readonly version: number;
}

const findRow = prepare((database, { objectId, version }: ValueKey) =>
  database
    .selectFrom('secret_object_values')
    .select(['recipient_count', 'sealed'])
    .where('object_id', '=', objectId)
    .where('version', '=', version),
);

const insertValue = prepareInsert('secret_object_values');
const insertRecipient = prepareInsert('secret_object_recipients');

/** Returns a current or previous value; `undefined` when it never existed or was deleted. */
export async function findValue(database: Database, key: ValueKey): Promise<SealedValue | undefined> {
  const [row] = await findRow(database, key);
  return row && { sealed: row.sealed, recipientCount: row.recipient_count };
}

export async function storeValue(
  database: Database,
  { objectId, version }: ValueKey,
  value: NewSealedValue,
): Promise<void> {
  const { sealed, recipientCount, recipients, by, at } = value;
  await insertValue(database, {
    object_id: objectId,
    version,
    created_at: at,
    created_by_type: by.type,
    created_by_id: by.id,
    replaced_at: null,
    replaced_by_type: null,
    replaced_by_id: null,
    recipient_count: recipientCount,
    sealed,
  });
  for (const recipient of new Set(recipients)) {
    await insertRecipient(database, { object_id: objectId, version, recipient });
  }
}

/** Replaces the value of a secret; the previous value becomes one of its last 10 versions. */
export async function replaceValue(database: Database, object: SecretTableRow, value: NewSealedValue): Promise<void> {
  const { id, version } = object;
  const { by, at } = value;
  await database
    .updateTable('secret_object_values')
    .set({ replaced_at: at, replaced_by_type: by.type, replaced_by_id: by.id })
    .where('object_id', '=', id)
    .where('version', '=', version)
    .execute();
  await storeValue(database, { objectId: id, version: version + 1 }, value);
  await database
    .deleteFrom('secret_object_values')
    .where('object_id', '=', id)
    .where('version', '<=', version - MAX_REPLACED)
    .execute();
  await database
    .updateTable('secret_objects')
    .set({ version: version + 1, updated_at: at, updated_by_type: by.type, updated_by_id: by.id })
    .where('id', '=', id)
    .execute();
}

/** Returns the recorded public keys of one value in alphabetical order. */
export async function listRecipients(database: Database, { objectId, version }: ValueKey): Promise<string[]> {
  const rows = await database
    .selectFrom('secret_object_recipients')
    .select('recipient')
    .where('object_id', '=', objectId)
    .where('version', '=', version)
    .orderBy('recipient')
    .execute();
  return rows.map(({ recipient }) => recipient);
}
