/** Changes to consumers, within a transaction of the caller. */
import { AppError } from '@trellis/core/errors';
import type { Database } from '../storage/database.js';
import { updateResealOfConsumer, updateResealOfSecrets } from './reseal-state.js';

/** Reports whether a secret names the consumer, or it was added. */
export async function consumerExists(database: Database, name: string): Promise<boolean> {
  const added = database.selectFrom('secret_consumers').select('name').where('name', '=', name);
  if ((await added.executeTakeFirst()) !== undefined) return true;
  const used = database.selectFrom('secret_object_consumers').select('consumer').where('consumer', '=', name);
  return (await used.limit(1).executeTakeFirst()) !== undefined;
}

/** @throws AppError `not_found` for an unknown consumer. */
export async function assertConsumerExists(database: Database, name: string): Promise<void> {
  if (!(await consumerExists(database, name))) throw new AppError('not_found', 'unknown consumer');
}

/**
 * Renames a consumer in all secrets, in the list of added consumers, and in its tokens, which stay valid. An existing
 * target name merges both consumers; the public key of the target takes precedence.
 *
 * @throws AppError `conflict` when two variants of a slug would share the consumer.
 */
export async function renameConsumer(transaction: Database, from: string, to: string): Promise<void> {
  await assertNoSharedVariants(transaction, from, to);
  const links = transaction.selectFrom('secret_object_consumers').select('object_id');
  await transaction
    .deleteFrom('secret_object_consumers')
    .where('consumer', '=', from)
    .where('object_id', 'in', links.where('consumer', '=', to))
    .execute();
  const objects = transaction.updateTable('secret_object_consumers').set({ consumer: to });
  await objects.where('consumer', '=', from).execute();
  await transaction.updateTable('tokens').set({ consumer: to }).where('consumer', '=', from).execute();
  await renameEntry(transaction, from, to);
  await updateResealOfConsumer(transaction, to);
}

async function renameEntry(transaction: Database, from: string, to: string): Promise<void> {
  const entry = transaction.deleteFrom('secret_consumers').where('name', '=', from).returning('public_key');
  const moved = await entry.executeTakeFirst();
  if (moved === undefined) return;
  await transaction
    .insertInto('secret_consumers')
    .values({ name: to, public_key: moved.public_key })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((set) => ({
        public_key: set.fn.coalesce(set.ref('secret_consumers.public_key'), set.ref('excluded.public_key')),
      })),
    )
    .execute();
}

/** @throws AppError `conflict` when the consumers belong to different variants of one slug. */
async function assertNoSharedVariants(transaction: Database, from: string, to: string): Promise<void> {
  const shared = transaction
    .selectFrom('secret_object_consumers as old')
    .innerJoin('secret_objects as own', 'own.id', 'old.object_id')
    .innerJoin('secret_objects as other', 'other.slug', 'own.slug')
    .innerJoin('secret_object_consumers as new', 'new.object_id', 'other.id')
    .select('own.slug')
    .where('old.consumer', '=', from)
    .where('new.consumer', '=', to)
    .whereRef('own.id', '!=', 'other.id');
  const conflicting = await shared.limit(1).executeTakeFirst();
  if (conflicting === undefined) return;
  const message = `Can't merge the consumers: "${conflicting.slug}" has a variant for each of them.`;
  throw new AppError('conflict', message, { field: 'name' });
}

/** Stores the public key of a consumer. @returns Whether the key changed. */
export async function savePublicKey(transaction: Database, name: string, publicKey: string): Promise<boolean> {
  const known = transaction.selectFrom('secret_consumers').select('public_key').where('name', '=', name);
  if ((await known.executeTakeFirst())?.public_key === publicKey) return false;
  await transaction
    .insertInto('secret_consumers')
    .values({ name, public_key: publicKey })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ public_key: publicKey }))
    .execute();
  await updateResealOfConsumer(transaction, name);
  return true;
}

/** Removes a consumer from all secrets and from the list of added consumers. */
export async function removeConsumer(transaction: Database, name: string): Promise<void> {
  const links = transaction.deleteFrom('secret_object_consumers').where('consumer', '=', name).returning('object_id');
  const objects = await links.execute();
  await transaction.deleteFrom('secret_consumers').where('name', '=', name).execute();
  await updateResealOfSecrets(
    transaction,
    objects.map(({ object_id }) => object_id),
  );
}

/**
 * Revokes the active tokens of a deleted consumer, so that they give no access to a later consumer with the same name.
 *
 * @returns The ids of the revoked tokens.
 */
export async function revokeConsumerTokens(transaction: Database, name: string, at: number): Promise<string[]> {
  const rows = await transaction
    .updateTable('tokens')
    .set({ revoked_at: at })
    .where('kind', '=', 'consumer')
    .where('consumer', '=', name)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}
