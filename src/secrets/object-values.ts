/** Present and replaced values of objects. All of it runs in the caller's transaction. */
import type { Database } from '../storage/database.js';
import { prepare, prepareInsert } from '../storage/prepared.js';
import type { Actor } from './actor.js';
import type { SealedValue } from './sealed-value.js';
import type { ObjectRow } from './variants.js';

/** Enough to undo a bad rotation and those that tried to mend it; with 1 MiB each an object takes 11 MiB at most. */
const MAX_REPLACED = 10;

/** A value, whom it is sealed to, and who brought it when. */
export interface NewValue extends SealedValue {
  /** Public keys, as far as they are known. */
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

/** @returns `undefined` when the object has no such value, or not any more. */
export async function findValue(database: Database, key: ValueKey): Promise<SealedValue | undefined> {
  const [row] = await findRow(database, key);
  return row && { sealed: row.sealed, recipientCount: row.recipient_count };
}

export async function storeValue(database: Database, { objectId, version }: ValueKey, value: NewValue): Promise<void> {
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

/** Gives an object another value, and keeps the one before among its last 10. */
export async function replaceValue(database: Database, object: ObjectRow, value: NewValue): Promise<void> {
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

/** The recorded public keys of one value, in alphabetical order. */
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
