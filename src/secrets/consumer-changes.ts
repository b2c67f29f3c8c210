/** Changes to consumers, within a transaction of the caller. */
import { AppError } from '@trellis/core/errors';
import { assertRecentSignIn, assertSessionOpen, type Caller } from '../accounts/callers.js';
import type { Database } from '../storage/database.js';
import { updateResealOfConsumer, updateResealOfSecrets } from './sealed-values.js';

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
 * @throws AppError `conflict` when two variants of a slug would share the consumer; `session_required` when the target
 * would get a different public key from a caller without the session of the owner.
 */
export async function renameConsumer(
  transaction: Database,
  { from, to }: { readonly from: string; readonly to: string },
  caller: Caller | undefined,
): Promise<void> {
  await assertNoSharedVariants(transaction, from, to);
  const publicKey = await findPublicKey(transaction, from);
  if (publicKey !== undefined && (await findPublicKey(transaction, to)) === undefined) {
    await assertCanSetKey(transaction, { name: to, publicKey }, caller);
  }
  await retireKey(transaction, from);
  const links = transaction.selectFrom('secret_object_consumers').select('object_id');
  await transaction
    .deleteFrom('secret_object_consumers')
    .where('consumer', '=', from)
    .where('object_id', 'in', links.where('consumer', '=', to))
    .execute();
  const objects = transaction.updateTable('secret_object_consumers').set({ consumer: to });
  await objects.where('consumer', '=', from).execute();
  await transaction.updateTable('tokens').set({ consumer: to }).where('consumer', '=', from).execute();
  await renameInRules(transaction, from, to);
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

/** The registered public key of a consumer. */
interface ConsumerKey {
  readonly name: string;
  readonly publicKey: string;
}

/** Returns the public key of a consumer; `undefined` before one is registered. */
async function findPublicKey(database: Database, name: string): Promise<string | undefined> {
  const known = database.selectFrom('secret_consumers').select('public_key').where('name', '=', name);
  return (await known.executeTakeFirst())?.public_key ?? undefined;
}

/** Returns the last public key of a deleted or renamed consumer with this name. */
async function findRetiredKey(database: Database, name: string): Promise<string | undefined> {
  const retired = database.selectFrom('secret_retired_keys').select('public_key').where('name', '=', name);
  return (await retired.executeTakeFirst())?.public_key;
}

/**
 * Asserts that a caller may register a public key. Any write token may register the first key of a name. A different
 * key would let its holder read the next values, so it requires the session of the owner, also after the consumer was
 * deleted or renamed.
 *
 * @returns The previous key, if it differs.
 * @throws AppError `session_required` for a token, `unauthenticated` without a recent sign-in.
 */
async function assertCanSetKey(
  transaction: Database,
  { name, publicKey }: ConsumerKey,
  caller: Caller | undefined,
): Promise<string | undefined> {
  const known = (await findPublicKey(transaction, name)) ?? (await findRetiredKey(transaction, name));
  if (known === undefined || known === publicKey) return undefined;
  if (caller?.kind !== 'session') {
    const message =
      "Replacing a consumer's public key requires the owner's session. Replace it on the page /vault/consumers.";
    throw new AppError('session_required', message, { field: 'public_key' });
  }
  assertRecentSignIn(caller, Date.now());
  await assertSessionOpen(transaction, caller);
  return known;
}

/** Remembers the public key of a name that is about to be deleted or renamed. */
async function retireKey(transaction: Database, name: string): Promise<void> {
  const publicKey = await findPublicKey(transaction, name);
  if (publicKey === undefined) return;
  await transaction
    .insertInto('secret_retired_keys')
    .values({ name, public_key: publicKey })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ public_key: publicKey }))
    .execute();
}

/**
 * Stores the public key of a consumer.
 *
 * @returns The previous key; `undefined` if the key did not change.
 * @throws AppError as {@link assertCanSetKey}.
 */
export async function savePublicKey(
  transaction: Database,
  { name, publicKey }: ConsumerKey,
  caller: Caller | undefined,
): Promise<{ readonly previousKey: string | undefined } | undefined> {
  if ((await findPublicKey(transaction, name)) === publicKey) return undefined;
  const previousKey = await assertCanSetKey(transaction, { name, publicKey }, caller);
  await transaction.deleteFrom('secret_retired_keys').where('name', '=', name).execute();
  await transaction
    .insertInto('secret_consumers')
    .values({ name, public_key: publicKey })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ public_key: publicKey }))
    .execute();
  await updateResealOfConsumer(transaction, name);
  return { previousKey };
}

/** Removes a consumer from all secrets and from the list of added consumers. */
export async function removeConsumer(transaction: Database, name: string): Promise<void> {
  await retireKey(transaction, name);
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

/** Makes the rules of a consumer follow its new name, as its tokens do. */
async function renameInRules(transaction: Database, from: string, to: string): Promise<void> {
  await transaction.updateTable('workload_rules').set({ consumer: to }).where('consumer', '=', from).execute();
}

/**
 * Deletes the rules of a deleted consumer, so that they give no access to a later consumer with the same name.
 *
 * @returns their names.
 */
export async function removeRulesOfConsumer(transaction: Database, consumer: string): Promise<string[]> {
  const rows = transaction.deleteFrom('workload_rules').where('consumer', '=', consumer).returning('name');
  return (await rows.execute()).map(({ name }) => name);
}
