/**
 * Sealed values: storing current and previous ones in the caller's transaction, and the column `needs_reseal` of secrets,
 * which says whether `findResealReason` has a reason. It is stored so that a list can be filtered by index, and changes in
 * the transaction that changes keys, consumers or recipients.
 */
import { createHash } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import type { RawBuilder } from 'kysely';
import type { Database } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { prepare, prepareInsert } from '../storage/prepared.js';
import { AgeFileError, readAgeFile, toKeyFingerprint } from './age-format.js';
import type { Actor, AuditDetail } from './audit/chain.js';
import {
  readSecretMetadata,
  type SecretLabels,
  type SecretMetadata,
  type SecretTableRow,
  touchSecrets,
} from './secret-records.js';
import type { ValueSignature } from './value-signatures.js';

/** The number of previous values, enough to undo several bad rotations. With values of 1 MiB, a secret has 11 MiB. */
export const MAX_REPLACED = 10;

/** A value to store, with its recipients, author and time. */
export interface NewSealedValue extends SealedValue {
  /** The recorded public keys; may be incomplete. */
  readonly recipients: readonly string[];
  /** The recipients that a previous sender chose explicitly; for a new value, `markExplicitRecipients` finds them. */
  readonly explicitRecipients?: readonly string[];
  readonly signature?: ValueSignature;
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
    .select(['recipient_count', 'sealed', 'signature'])
    .where('object_id', '=', objectId)
    .where('version', '=', version),
);

const insertValue = prepareInsert('secret_object_values');
const insertRecipient = prepareInsert('secret_object_recipients');

/** A stored value with the text of its signature. */
export interface SignedSealedValue extends SealedValue {
  readonly signatureText: string | undefined;
}

/** Returns a current or previous value; `undefined` when it never existed or was deleted. */
export async function findValue(database: Database, key: ValueKey): Promise<SignedSealedValue | undefined> {
  const [row] = await findRow(database, key);
  return row && { sealed: row.sealed, recipientCount: row.recipient_count, signatureText: row.signature ?? undefined };
}

export async function storeValue(
  database: Database,
  { objectId, version }: ValueKey,
  value: NewSealedValue,
): Promise<void> {
  const { sealed, recipientCount, recipients, explicitRecipients = [], signature, by, at } = value;
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
    signature: signature?.text ?? null,
  });
  for (const recipient of new Set(recipients)) {
    const isExplicit = explicitRecipients.includes(recipient) ? 1 : 0;
    await insertRecipient(database, { object_id: objectId, version, recipient, is_explicit: isExplicit });
  }
}

/** Returns the facts of a stored value that the audit log records, so that a verification finds a changed value. */
export function toValueDetail(
  version: number,
  { sealed, recipients, signature }: Pick<NewSealedValue, 'recipients' | 'sealed' | 'signature'>,
): AuditDetail {
  return {
    value: version,
    digest: createHash('sha256').update(sealed).digest('hex'),
    recipients: recipients.map(toKeyFingerprint).sort(),
    ...(signature && { signer: signature.signer }),
  };
}

/** Replaces the signature of a stored value. */
export async function saveSignature(
  database: Database,
  { objectId, version }: ValueKey,
  { text }: ValueSignature,
): Promise<void> {
  const stored = database.updateTable('secret_object_values').set({ signature: text });
  await stored.where('object_id', '=', objectId).where('version', '=', version).execute();
}

/**
 * Replaces the value of a secret; the previous value becomes one of its last 10 versions. Returns the changed row of the
 * secret.
 */
export async function replaceValue(
  database: Database,
  object: SecretTableRow,
  value: NewSealedValue,
): Promise<SecretTableRow> {
  const { id, version } = object;
  const { by, at } = value;
  const change = { objectId: id, version, at, type: by.type, by: by.id };
  await markReplaced(database, change);
  await storeValue(database, { objectId: id, version: version + 1 }, value);
  const last = version - MAX_REPLACED;
  if (last > 0) await deleteUntil(database, { objectId: id, version: last });
  await pointToValue(database, { ...change, version: version + 1 });
  return { ...object, version: version + 1, updated_at: at, updated_by_type: by.type, updated_by_id: by.id };
}

interface ValueChange extends ValueKey {
  readonly at: number;
  readonly type: string;
  readonly by: string;
}

const markReplaced = prepare((database, { objectId, version, at, type, by }: ValueChange) =>
  database
    .updateTable('secret_object_values')
    .set({ replaced_at: at, replaced_by_type: type, replaced_by_id: by })
    .where('object_id', '=', objectId)
    .where('version', '=', version),
);

const deleteUntil = prepare((database, { objectId, version }: ValueKey) =>
  database.deleteFrom('secret_object_values').where('object_id', '=', objectId).where('version', '<=', version),
);

const pointToValue = prepare((database, { objectId, version, at, type, by }: ValueChange) =>
  database
    .updateTable('secret_objects')
    .set({ version, updated_at: at, updated_by_type: type, updated_by_id: by })
    .where('id', '=', objectId),
);

/** Returns the recorded public keys of one value in alphabetical order. */
export async function listRecipients(database: Database, key: ValueKey): Promise<string[]> {
  return (await listRecipientRows(database, key)).map(({ recipient }) => recipient);
}

/** Returns the recorded public keys of one value that its sender chose explicitly, in alphabetical order. */
export async function listExplicitRecipients(database: Database, key: ValueKey): Promise<string[]> {
  const rows = await listRecipientRows(database, key);
  return rows.filter((row) => row.is_explicit === 1).map(({ recipient }) => recipient);
}

function listRecipientRows(database: Database, { objectId, version }: ValueKey) {
  return database
    .selectFrom('secret_object_recipients')
    .select(['recipient', 'is_explicit'])
    .where('object_id', '=', objectId)
    .where('version', '=', version)
    .orderBy('recipient')
    .execute();
}

export interface SealedValue {
  /** The bytes of the age file, which the server can't decrypt. */
  readonly sealed: Uint8Array;
  readonly recipientCount: number;
}

/** 1 MiB, far more than any key or certificate needs. */
const MAX_BYTES = 1024 ** 2;

/** The length of the base64 text of {@link MAX_BYTES}. */
const MAX_CHARACTERS = Math.ceil(MAX_BYTES / 3) * 4;

/**
 * Decodes a sealed value from base64 with padding, and checks the age file.
 *
 * @throws AppError `too_large` above 1 MiB; `unprocessable` unless the text is canonical base64 of an age file with at
 * least one recipient.
 */
export function parseSealedValue(text: string): SealedValue {
  if (text.length > MAX_CHARACTERS) throw tooLarge();
  const sealed = Buffer.from(text, 'base64');
  if (sealed.toString('base64') !== text) throw unprocessable('Expected value to be base64 with padding.');
  if (sealed.length > MAX_BYTES) throw tooLarge();
  try {
    return { sealed, ...readAgeFile(sealed) };
  } catch (cause) {
    if (cause instanceof AgeFileError) throw unprocessable(cause.message);
    throw cause;
  }
}

function tooLarge(): AppError {
  return new AppError('too_large', `Expected value to be at most ${MAX_BYTES} bytes.`, {
    field: 'value',
  });
}

function unprocessable(message: string): AppError {
  return new AppError('unprocessable', message, { field: 'value' });
}

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
