/**
 * The column `needs_reseal` of secrets: whether `findResealReason` has a reason. It is stored so that a list can be
 * filtered by index, and changes in the transaction that changes keys, consumers or recipients.
 */
import type { RawBuilder } from 'kysely';
import type { Database } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import {
  readSecretMetadata,
  type SecretLabels,
  type SecretMetadata,
  type SecretTableRow,
  touchSecrets,
} from './secret-records.js';

/** Returns the metadata of a secret whose value or consumers were changed, and stores whether to reseal the value. */
export async function saveResealState(transaction: Database, row: SecretTableRow, at: number): Promise<SecretMetadata> {
  const metadata = await readSecretMetadata(transaction, row, at);
  const needsReseal = metadata.reseal === undefined ? 0 : 1;
  if (needsReseal !== row.needs_reseal) {
    const changed = transaction.updateTable('secret_objects').set({ needs_reseal: needsReseal });
    await changed.where('id', '=', row.id).execute();
  }
  return metadata;
}

/**
 * Marks the recipients of a new value that the sender chose explicitly: those that are neither the owner's key nor a key
 * of a consumer of the secret. A consumer without a registered key may have any of them, so none is marked then.
 */
export async function markExplicitRecipients(
  transaction: Database,
  { id, version }: Pick<SecretTableRow, 'id' | 'version'>,
): Promise<void> {
  await sql`
    update secret_object_recipients set is_explicit = 1
    where object_id = ${id} and version = ${version}
      and not exists (select 1 from secret_owner as o where o.public_key = secret_object_recipients.recipient)
      and not exists (
        select 1 from secret_object_consumers as c left join secret_consumers as k on k.name = c.consumer
        where c.object_id = ${id}
          and (k.public_key is null or k.public_key = secret_object_recipients.recipient)
      )`.execute(transaction);
}

/** Returns the recipients that {@link markExplicitRecipients} marks, for a value that is not stored yet. */
export function findExplicitRecipients(
  recipients: readonly string[],
  { consumers, ownerKey }: Pick<SecretLabels, 'consumers' | 'ownerKey'>,
): string[] {
  const hasUnknownKey = consumers.some(({ publicKey }) => publicKey === undefined);
  const known = [ownerKey, ...consumers.map(({ publicKey }) => publicKey)];
  return hasUnknownKey ? [] : recipients.filter((recipient) => !known.includes(recipient));
}

/** Updates the column after a change to the public key of a consumer, for all secrets that name the consumer. */
export async function updateResealOfConsumer(transaction: Database, consumer: string): Promise<void> {
  await update(transaction, sql`id in (select object_id from secret_object_consumers where consumer = ${consumer})`);
}

/** The number of ids in a statement; databases limit the parameters. */
const MAX_IDS = 500;

/** Updates the column of some secrets. */
export async function updateResealOfSecrets(transaction: Database, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    await update(transaction, sql`id in (${sql.join(ids.slice(start, start + MAX_IDS))})`);
  }
}

/** Updates the column of all secrets, after the owner's key was stored. It is stored once. */
export async function updateResealOfAll(transaction: Database): Promise<void> {
  await update(transaction, sql`true`);
}

/** Writes the secrets first, so that a change of one that has read the earlier keys can't be committed later. */
async function update(transaction: Database, scope: RawBuilder<unknown>): Promise<void> {
  await touchSecrets(transaction, scope);
  await sql`
    update secret_objects set needs_reseal = 1 - needs_reseal
    where ${scope} and (needs_reseal = 1) <> ${NEEDS_RESEAL}`.execute(transaction);
}

/** The consumers of a secret, with their public keys, which are null for consumers without one. */
const CONSUMERS = sql`
  secret_object_consumers as c left join secret_consumers as k on k.name = c.consumer
  where c.object_id = secret_objects.id`;

const RECIPIENTS = sql`
  secret_object_recipients as r where r.object_id = secret_objects.id and r.version = secret_objects.version`;

/** The rule of `findResealReason` in SQL. */
const NEEDS_RESEAL = sql`(
  case when exists (select 1 from ${RECIPIENTS})
  then
    exists (
      select 1 from ${CONSUMERS} and k.public_key is not null
        and not exists (select 1 from ${RECIPIENTS} and r.recipient = k.public_key)
    ) or (
      not exists (select 1 from ${CONSUMERS} and k.public_key is null)
      and exists (
        select 1 from ${RECIPIENTS} and r.is_explicit = 0
          and not exists (select 1 from secret_owner as o where o.public_key = r.recipient)
          and not exists (select 1 from ${CONSUMERS} and k.public_key = r.recipient)
      )
    )
  else exists (
    select 1 from (
      select v.recipient_count as given,
        (select count(distinct k.public_key) from ${CONSUMERS}) as wanted,
        (select count(*) from ${CONSUMERS} and k.public_key is null) as keyless
      from secret_object_values as v where v.object_id = secret_objects.id and v.version = secret_objects.version
    ) as sealing
    where given < wanted or (wanted > 0 and keyless = 0 and given > wanted + 1)
  )
  end)`;
