import { randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Caller, requireOwner } from '../accounts/callers.js';
import { describeWrongCharacter } from '../sealing/env-names.js';
import { type Database, inTransaction } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { type Actor, appendAuditEntry, type RequestOrigin, toActor } from './audit/chain.js';
import { createValueReader, type CurrentValue } from './read-values.js';
import { createValueReplacer } from './replace-values.js';
import {
  markExplicitRecipients,
  saveResealState,
  findValue,
  listRecipients,
  type NewSealedValue,
  parseSealedValue,
  replaceValue,
  saveSignature,
  storeValue,
  toValueDetail,
} from './sealed-values.js';
import { listSecrets, type SecretListPage, type SecretListRequest, type SecretScopeFilter } from './secret-list.js';
import {
  assertCanCreate,
  assertCanRename,
  assertConsumersUnused,
  assertIfMatch,
  getVariant,
  listSecretConsumers,
  lockVariant,
  saveConsumers,
  saveSlug,
  saveTags,
  type SecretMetadata,
  type SecretRef,
  type SecretTableRow,
} from './secret-records.js';
import {
  parseTags,
  assertCanChange,
  assertCanLabel,
  assertInScope,
  findRestrictions,
  readLabels,
} from './token-scope.js';
import { assertSignsPlace, assertSignsValue, readValueSignature, type ValueSignature } from './value-signatures.js';

/** A sealed value with its metadata, to create a secret or replace a value. */
export interface SecretValueInput {
  /** The sealed value, in base64. */
  readonly value: string;
  readonly usedBy?: readonly string[];
  readonly tags?: readonly string[];
  /** `null` disables rotation. */
  readonly rotateAfterDays?: number | null;
  /** The public keys that the value is sealed to, as reported by the client. */
  readonly recipients?: readonly string[];
  /** The statement of the writer about the value, with the signature. */
  readonly signature?: string;
}

interface Precondition {
  /** The `If-Match` header: the ETag of the value to change; when absent, every value matches. */
  readonly ifMatch?: string;
}

interface SecretUpdate extends SecretValueInput, Precondition {
  /** `null` and an empty text remove the description. */
  readonly description?: string | null;
}

/** A change that keeps the value. Absent members stay unchanged. */
export interface SecretPatch
  extends Precondition, Pick<SecretUpdate, 'description' | 'rotateAfterDays' | 'signature' | 'tags' | 'usedBy'> {
  readonly slug?: string;
}

export interface SecretCreation extends SecretValueInput {
  readonly slug: string;
  readonly description?: string;
}

/**
 * The secrets by slug. Each change and each read of a value is recorded in the audit log in the same transaction.
 *
 * Methods require the owner; `read` also accepts a token of a consumer that the secret names. All of them throw
 * AppError `unauthenticated` or `forbidden` for other callers, `not_found` for an unknown secret, and `conflict` when
 * several variants share the slug and no id is given.
 */
export interface SecretStore {
  list(caller: Caller | undefined, request: SecretListRequest): Promise<SecretListPage>;
  /** Returns the consumers of a secret in alphabetical order. */
  listUsedBy(caller: Caller | undefined, ref: SecretRef): Promise<string[]>;
  /**
   * With a signature, the secret gets the id of the statement.
   *
   * @throws AppError for an invalid value, tag or signature; `conflict` when the slug can't have this variant.
   */
  create(object: SecretCreation, origin: RequestOrigin): Promise<SecretMetadata>;
  read(ref: SecretRef, origin: RequestOrigin): Promise<CurrentValue>;
  /**
   * Replaces the value. Absent consumers, tags, description and rotation stay unchanged.
   *
   * @throws AppError as `create`; `precondition_failed` when the current value doesn't match `ifMatch`.
   */
  update(ref: SecretRef, change: SecretUpdate, origin: RequestOrigin): Promise<SecretMetadata>;
  /**
   * Renames a secret, or changes its labels: consumers, tags, description and rotation. Also replaces the signature of its
   * value.
   *
   * @throws AppError `invalid_input` without a change; `conflict` when the slug can't have this variant;
   * `precondition_failed` when the current value doesn't match `ifMatch`.
   */
  patch(ref: SecretRef, patch: SecretPatch, origin: RequestOrigin): Promise<SecretMetadata>;
  /** @throws AppError `precondition_failed` when the current value doesn't match `ifMatch`. */
  remove(ref: SecretRef & Precondition, origin: RequestOrigin): Promise<void>;
}

export function createSecretStore(database: Database, now: () => number = Date.now): SecretStore {
  const reader = createValueReader(database);
  const replaceTogether = createValueReplacer(database);
  return {
    async list(caller, request) {
      if (caller?.kind === 'consumer_token') return listOfConsumer(database, request, { ...caller, at: now() });
      requireOwner(caller);
      return listSecrets(database, { ...request, ...toScopeFilter(caller) }, now());
    },
    async listUsedBy(caller, ref) {
      requireOwner(caller);
      const object = await getVariant(database, ref);
      await assertInScope(database, caller, object);
      return listSecretConsumers(database, object.id);
    },
    async create(object, origin) {
      const by = toActor(requireOwner(origin.caller));
      const { slug, usedBy: consumers = [] } = object;
      assertSlug(slug);
      const value = await parseValue(object, { by, at: origin.at });
      const tags = parseTags(object.tags ?? []);
      assertCanLabel(origin.caller, { slug, tags, consumers });
      return inTransaction(database, async (transaction) => {
        await assertCanCreate(transaction, { slug, consumers });
        const row = toRow(object, { by, at: origin.at, id: await toNewId(transaction, slug, value.signature) });
        await transaction.insertInto('secret_objects').values(row).execute();
        await storeValue(transaction, { objectId: row.id, version: row.version }, value);
        await saveConsumers(transaction, row, consumers);
        await saveTags(transaction, row, tags);
        if (value.recipients.length > 0) await markExplicitRecipients(transaction, row);
        const detail = toValueDetail(row.version, value);
        await appendAuditEntry(transaction, { slug, variantId: row.id, action: 'create', detail }, origin);
        return saveResealState(transaction, row, origin.at);
      });
    },
    read: (ref, origin) => reader.read(ref, origin),
    async update(ref, change, origin) {
      const by = toActor(requireOwner(origin.caller));
      const value = await parseValue(change, { by, at: origin.at });
      const tags = change.tags && parseTags(change.tags);
      const keepsLabels =
        change.usedBy === undefined && tags === undefined && Object.keys(toColumns(change)).length === 0;
      // The restrictions of a token are checked in a transaction of its own.
      if (keepsLabels && !database.isTransaction && findRestrictions(origin.caller) === undefined) {
        const replaced = await replaceTogether({ ref, value, ifMatch: change.ifMatch, origin });
        if (replaced !== undefined) return replaced;
      }
      const work = async (transaction: Database): Promise<SecretMetadata> => {
        const object = await lockVariant(transaction, ref);
        const { id, slug } = object;
        await assertCanChange(transaction, origin.caller, object);
        await assertLabels(transaction, origin.caller, object, { ...change, tags });
        assertIfMatch(object, change.ifMatch);
        if (value.signature) assertSignsPlace(value.signature, { id, slug, version: object.version + 1 });
        if (change.usedBy) await assertConsumersUnused(transaction, object, change.usedBy);
        const replaced = await replaceValue(transaction, object, value);
        await saveLabels(transaction, object, { ...change, tags });
        if (value.recipients.length > 0) await markExplicitRecipients(transaction, replaced);
        const detail = toValueDetail(replaced.version, value);
        await appendAuditEntry(transaction, { slug, variantId: id, action: 'update', detail }, origin);
        return saveResealState(transaction, { ...replaced, ...toColumns(change) }, origin.at);
      };
      // The rule for consumers concerns all variants of the slug; all other changes concern the locked one.
      return inTransaction(database, work, change.usedBy ? 'serializable' : 'read committed');
    },
    async patch(ref, patch, origin) {
      requireOwner(origin.caller);
      const { slug, ifMatch, signature: text, ...labels } = patch;
      const isLabelled = Object.values<unknown>(labels).some((label) => label !== undefined);
      if (slug !== undefined) assertSlug(slug);
      else if (!isLabelled && text === undefined) throw noChange();
      const tags = labels.tags && parseTags(labels.tags);
      const signature = text === undefined ? undefined : await readValueSignature(text);
      const work = async (transaction: Database): Promise<SecretMetadata> => {
        const object = await lockVariant(transaction, ref);
        await assertCanChange(transaction, origin.caller, object);
        await assertLabels(transaction, origin.caller, object, { ...patch, tags });
        assertIfMatch(object, ifMatch);
        await assertVariant(transaction, object, patch);
        const { id, slug: previousSlug } = object;
        if (isLabelled) {
          await saveLabels(transaction, object, { ...labels, tags });
          await appendAuditEntry(transaction, { slug: previousSlug, variantId: id, action: 'update' }, origin);
        }
        const named = { slug: slug ?? previousSlug, variantId: id };
        const detail = signature && (await signAgain(transaction, { ...object, slug: named.slug }, signature));
        if (slug !== undefined) {
          await saveSlug(transaction, id, slug);
          await appendAuditEntry(transaction, { ...named, action: 'rename', previousSlug, detail }, origin);
        } else if (detail !== undefined) {
          await appendAuditEntry(transaction, { ...named, action: 'update', detail }, origin);
        }
        return saveResealState(
          transaction,
          await getVariant(transaction, { slug: slug ?? previousSlug, id }),
          origin.at,
        );
      };
      // Slugs and consumers concern all variants of a slug; all other changes concern the locked one.
      const isShared = slug !== undefined || labels.usedBy !== undefined;
      return inTransaction(database, work, isShared ? 'serializable' : 'read committed');
    },
    async remove(ref, origin) {
      requireOwner(origin.caller);
      const work = async (transaction: Database): Promise<void> => {
        const object = await lockVariant(transaction, ref);
        await assertCanChange(transaction, origin.caller, object);
        assertIfMatch(object, ref.ifMatch);
        const { id, slug } = object;
        await transaction.deleteFrom('secret_objects').where('id', '=', id).execute();
        await appendAuditEntry(transaction, { slug, variantId: id, action: 'delete' }, origin);
      };
      await inTransaction(database, work, 'read committed');
    },
  };
}

/** Lists the secrets of a consumer. No filter reveals anything about other consumers. */
async function listOfConsumer(
  database: Database,
  { usedBy, needsReseal, ...request }: SecretListRequest,
  { consumer, at }: { readonly consumer: string; readonly at: number },
): Promise<SecretListPage> {
  const isForOther = (usedBy !== undefined && usedBy !== consumer) || needsReseal === true;
  if (isForOther) return { secrets: [], total: 0, next: undefined };
  const page = await listSecrets(database, { ...request, usedBy: consumer }, at);
  return { ...page, secrets: page.secrets.map((secret) => toConsumerView(secret, consumer)) };
}

/** Returns the filter that a caller's list always has. */
function toScopeFilter(caller: Caller | undefined): SecretScopeFilter {
  const { namePrefix, tags, consumers } = findRestrictions(caller) ?? {};
  return { namePrefix, anyTags: tags, anyConsumers: consumers };
}

/** Returns the metadata that a consumer may see, without the other consumers and their keys. */
function toConsumerView(secret: SecretMetadata, consumer: string): SecretMetadata {
  return { ...secret, usedBy: [consumer], recipients: [], reseal: undefined };
}

/** Asserts that a caller may give a secret the labels that it has after a change. */
async function assertLabels(
  transaction: Database,
  caller: Caller | undefined,
  { id, slug: previousSlug }: SecretTableRow,
  { slug = previousSlug, tags, usedBy }: Pick<SecretPatch, 'slug' | 'tags' | 'usedBy'>,
): Promise<void> {
  if (findRestrictions(caller) === undefined) return;
  const stored = await readLabels(transaction, id);
  const labels = { slug, tags: tags ?? stored.tags, consumers: usedBy ?? stored.consumers };
  assertCanLabel(caller, { ...labels, previousTags: stored.tags });
}

/** The author and time of a value. */
interface Sender {
  readonly by: Actor;
  readonly at: number;
}

async function parseValue(
  { value, recipients = [], signature: text }: SecretValueInput,
  sender: Sender,
): Promise<NewSealedValue> {
  const sealed = parseSealedValue(value);
  const named = [...new Set(recipients)];
  if (named.length > sealed.recipientCount) {
    const message = `Expected at most ${sealed.recipientCount} recipients, as in the age header; received ${named.length}.`;
    throw new AppError('unprocessable', message, { field: 'recipients' });
  }
  const signature = text === undefined ? undefined : await readValueSignature(text);
  if (signature) await assertSignsValue(signature, { sealed: sealed.sealed, recipients: named });
  return { ...sealed, recipients: named, ...(signature && { signature }), ...sender };
}

/**
 * Returns the id of a new secret: that of the signed statement, which the client has chosen.
 *
 * @throws AppError `conflict` for the id of a different secret, even of a deleted one; `unprocessable` unless the statement is
 * about the first value of this name.
 */
async function toNewId(transaction: Database, slug: string, signature: ValueSignature | undefined): Promise<string> {
  if (signature === undefined) return randomUUID();
  const { id, version } = signature.statement;
  if (version !== 1) {
    const message = `Expected a signature for value 1 of a new secret; received one for value ${version}.`;
    throw new AppError('unprocessable', message, { field: 'signature' });
  }
  assertSignsPlace(signature, { slug, id, version: 1 });
  const { rows } = await sql`
    select 1 where exists (select 1 from secret_objects where id = ${id})
      or exists (select 1 from audit_log where variant_id = ${id} and detail is not null)
      or exists (select 1 from audit_pending where variant_id = ${id})`.execute(transaction);
  if (rows.length === 0) return id;
  throw new AppError('conflict', 'The id in the signature belongs to a different secret.', { field: 'signature' });
}

/** Replaces the signature of the current value. Returns the facts for the audit log. */
async function signAgain(transaction: Database, object: SecretTableRow, signature: ValueSignature) {
  assertSignsPlace(signature, object);
  const key = { objectId: object.id, version: object.version };
  const value = await findValue(transaction, key);
  // Every secret has a current value.
  if (value === undefined) throw new AppError('not_found', 'unknown object');
  const recipients = await listRecipients(transaction, key);
  await assertSignsValue(signature, { sealed: value.sealed, recipients });
  await saveSignature(transaction, key, signature);
  return toValueDetail(object.version, { sealed: value.sealed, recipients, signature });
}

function toRow(
  { slug, description, rotateAfterDays }: SecretCreation,
  { by, at, id }: Sender & { readonly id: string },
): SecretTableRow {
  return {
    id,
    slug,
    description: description ?? null,
    version: 1,
    created_at: at,
    updated_at: at,
    created_by_type: by.type,
    created_by_id: by.id,
    updated_by_type: by.type,
    updated_by_id: by.id,
    rotate_after_days: rotateAfterDays ?? null,
    noted_version: null,
    needs_reseal: 0,
  };
}

const noChange = (): AppError =>
  new AppError('invalid_input', 'Expected slug, used_by, tags, description, rotate_after_days or signature.', {
    field: 'slug',
  });

/** Asserts that the slug of a secret can have it as a variant after a change. @throws AppError `conflict` otherwise. */
async function assertVariant(transaction: Database, object: SecretTableRow, patch: SecretPatch): Promise<void> {
  const { slug, usedBy } = patch;
  if (slug !== undefined && slug !== object.slug) {
    const consumers = usedBy ?? (await listSecretConsumers(transaction, object.id));
    await assertCanRename(transaction, object.id, { slug, consumers });
  } else if (usedBy !== undefined) {
    await assertConsumersUnused(transaction, object, usedBy);
  }
}

type Labels = Omit<SecretPatch, 'slug'>;

/** Stores the given labels, whose tags have been parsed. */
async function saveLabels(transaction: Database, object: SecretTableRow, labels: Labels): Promise<void> {
  if (labels.usedBy) await saveConsumers(transaction, object, labels.usedBy);
  if (labels.tags) await saveTags(transaction, object, labels.tags);
  const columns = toColumns(labels);
  if (Object.keys(columns).length === 0) return;
  await transaction.updateTable('secret_objects').set(columns).where('id', '=', object.id).execute();
}

/** Returns the columns that labels change. */
function toColumns({ description, rotateAfterDays }: Labels) {
  return {
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(rotateAfterDays !== undefined && { rotate_after_days: rotateAfterDays }),
  };
}

const SLUG = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** @throws AppError `invalid_input` for an invalid slug. */
function assertSlug(slug: string): void {
  if (SLUG.test(slug)) return;
  const expected = 'Expected slug to be 1 to 128 letters, digits, "_" and "-", starting with a letter or digit';
  const received = describeWrongCharacter(slug) ?? `${slug.length} characters`;
  throw new AppError('invalid_input', `${expected}; received ${received}.`, { field: 'slug' });
}
