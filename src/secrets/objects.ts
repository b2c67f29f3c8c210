import { randomUUID } from 'node:crypto';
import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import { toActor } from './actor.js';
import type { Actor, Origin } from './actor.js';
import { appendAudit, inAuditedTransaction } from './audit-chain.js';
import { describeObject } from './object-details.js';
import type { SecretObject } from './object-details.js';
import { requireMatch } from './object-etag.js';
import { listConsumersOf, storeConsumers, storeTags } from './object-labels.js';
import { listObjects } from './object-list.js';
import type { ObjectFilter, ObjectPage } from './object-list.js';
import { parseTags, requireSlug } from './object-names.js';
import { createObjectReader } from './object-reader.js';
import type { PresentValue } from './object-reader.js';
import { replaceValue, storeValue } from './object-values.js';
import type { NewValue } from './object-values.js';
import { parseSealedValue } from './sealed-value.js';
import { requireOwnConsumers, requireRoomForNew, requireRoomForRenamed, requireVariant } from './variants.js';
import type { ObjectRef, ObjectRow } from './variants.js';

/** A sealed value with its metadata, to create a secret or replace a value. */
export interface ObjectValue {
  /** The sealed value, in base64. */
  readonly value: string;
  readonly usedBy?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** `null` disables rotation. */
  readonly rotateAfterDays?: number | null | undefined;
  /** The public keys that the value is sealed to, as reported by the client. */
  readonly recipients?: readonly string[] | undefined;
}

export interface ObjectChange extends ObjectValue {
  /** The `If-Match` header: the ETag of the value to replace; when absent, every value is replaced. */
  readonly ifMatch?: string | undefined;
}

export interface NewSecretObject extends ObjectValue {
  readonly slug: string;
  readonly description?: string | undefined;
}

/**
 * The secrets by slug. Each change and each read of a value is recorded in the audit log in the same transaction.
 *
 * Methods require the owner; `read` also accepts a token of a consumer that the secret names. All of them throw
 * AppError `unauthenticated` or `forbidden` for other callers, `not_found` for an unknown secret, and `conflict` when
 * several variants share the slug and no id is given.
 */
export interface SecretObjects {
  list(caller: Caller | undefined, filter: ObjectFilter): Promise<ObjectPage>;
  /** Returns the consumers of a secret in alphabetical order. */
  listUsedBy(caller: Caller | undefined, ref: ObjectRef): Promise<string[]>;
  /**
   * @throws AppError for an invalid value or tag; `conflict` when the slug can't have this variant; `invalid_input` at
   * the limit of 100,000 secrets.
   */
  create(object: NewSecretObject, origin: Origin): Promise<SecretObject>;
  read(ref: ObjectRef, origin: Origin): Promise<PresentValue>;
  /**
   * Replaces the value. Absent consumers, tags and rotation stay unchanged.
   *
   * @throws AppError as `create`; `precondition_failed` when the current value doesn't match `ifMatch`.
   */
  update(ref: ObjectRef, change: ObjectChange, origin: Origin): Promise<SecretObject>;
  /** @throws AppError `conflict` when the new slug can't have this variant. */
  rename(ref: ObjectRef, slug: string, origin: Origin): Promise<SecretObject>;
  remove(ref: ObjectRef, origin: Origin): Promise<void>;
}

export function createSecretObjects(database: Database, now: () => number = Date.now): SecretObjects {
  const reader = createObjectReader(database);
  return {
    async list(caller, filter) {
      requireOwner(caller);
      return listObjects(database, filter, now());
    },
    async listUsedBy(caller, ref) {
      requireOwner(caller);
      const { id } = await requireVariant(database, ref);
      return listConsumersOf(database, id);
    },
    async create(object, origin) {
      const by = toActor(requireOwner(origin.caller));
      const { slug, usedBy: consumers = [] } = object;
      requireSlug(slug);
      const value = parseValue(object, { by, at: origin.at });
      const tags = parseTags(object.tags ?? []);
      return inAuditedTransaction(database, async (transaction) => {
        await requireRoom(transaction);
        await requireRoomForNew(transaction, { slug, consumers });
        const row = toRow(object, { by, at: origin.at });
        await transaction.insertInto('secret_objects').values(row).execute();
        await storeValue(transaction, { objectId: row.id, version: row.version }, value);
        await storeConsumers(transaction, row.id, consumers);
        await storeTags(transaction, row.id, tags);
        await appendAudit(transaction, { slug, variantId: row.id, action: 'create' }, origin);
        return describeObject(transaction, row, origin.at);
      });
    },
    read: (ref, origin) => reader.read(ref, origin),
    async update(ref, change, origin) {
      const by = toActor(requireOwner(origin.caller));
      const value = parseValue(change, { by, at: origin.at });
      const tags = change.tags && parseTags(change.tags);
      return inAuditedTransaction(database, async (transaction) => {
        const object = await requireVariant(transaction, ref);
        const { id, slug } = object;
        requireMatch(object, change.ifMatch);
        if (change.usedBy) await requireOwnConsumers(transaction, object, change.usedBy);
        await replaceValue(transaction, object, value);
        if (change.usedBy) await storeConsumers(transaction, id, change.usedBy);
        if (tags) await storeTags(transaction, id, tags);
        await setRotation(transaction, id, change.rotateAfterDays);
        await appendAudit(transaction, { slug, variantId: id, action: 'update' }, origin);
        return describeObject(transaction, await requireVariant(transaction, { slug, id }), origin.at);
      });
    },
    async rename(ref, slug, origin) {
      requireOwner(origin.caller);
      requireSlug(slug);
      return inAuditedTransaction(database, async (transaction) => {
        const { id, slug: previousSlug } = await requireVariant(transaction, ref);
        const consumers = await listConsumersOf(transaction, id);
        if (slug !== previousSlug) await requireRoomForRenamed(transaction, id, { slug, consumers });
        await transaction.updateTable('secret_objects').set({ slug }).where('id', '=', id).execute();
        await appendAudit(transaction, { slug, variantId: id, action: 'rename', previousSlug }, origin);
        return describeObject(transaction, await requireVariant(transaction, { slug, id }), origin.at);
      });
    },
    async remove(ref, origin) {
      requireOwner(origin.caller);
      await inAuditedTransaction(database, async (transaction) => {
        const { id, slug } = await requireVariant(transaction, ref);
        await transaction.deleteFrom('secret_objects').where('id', '=', id).execute();
        await appendAudit(transaction, { slug, variantId: id, action: 'delete' }, origin);
      });
    },
  };
}

/** The limit, including variants; some lists read all secrets. */
const MAX_OBJECTS = 100_000;

async function requireRoom(transaction: Database): Promise<void> {
  const [{ count } = { count: 0 }] = await countObjects(transaction, {});
  if (count < MAX_OBJECTS) return;
  throw new AppError('invalid_input', `You have reached the limit of ${MAX_OBJECTS} secrets. Delete one first.`);
}

const countObjects = prepare((database) =>
  database.selectFrom('secret_objects').select(({ fn }) => fn.countAll<number>().as('count')),
);

/** The author and time of a value. */
interface Sender {
  readonly by: Actor;
  readonly at: number;
}

function parseValue({ value, recipients = [] }: ObjectValue, sender: Sender): NewValue {
  const sealed = parseSealedValue(value);
  const named = [...new Set(recipients)];
  if (named.length > sealed.recipientCount) {
    const message = `Expected at most ${sealed.recipientCount} recipients, as in the age header; received ${named.length}.`;
    throw new AppError('unprocessable', message, { field: 'recipients' });
  }
  return { ...sealed, recipients: named, ...sender };
}

function toRow({ slug, description, rotateAfterDays }: NewSecretObject, { by, at }: Sender): ObjectRow {
  return {
    id: randomUUID(),
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
  };
}

async function setRotation(transaction: Database, id: string, days: number | null | undefined): Promise<void> {
  if (days === undefined) return;
  await transaction.updateTable('secret_objects').set({ rotate_after_days: days }).where('id', '=', id).execute();
}
