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

/** What comes with a value, whether it is the first of an object or another. */
export interface ObjectValue {
  /** As the caller sealed it, in base64. */
  readonly value: string;
  readonly usedBy?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** `null` for never. */
  readonly rotateAfterDays?: number | null | undefined;
  /** The public keys that the value is sealed to, as far as the sender tells. */
  readonly recipients?: readonly string[] | undefined;
}

export interface ObjectChange extends ObjectValue {
  /** Names the value that may be replaced, as `If-Match` does; any may when absent. */
  readonly ifMatch?: string | undefined;
}

export interface NewSecretObject extends ObjectValue {
  readonly slug: string;
  readonly description?: string | undefined;
}

/**
 * Sealed objects by name. Each change, and each read of a value, is in the audit
 * log, written in one transaction with it. All of them throw AppError
 * `unauthenticated` or `forbidden` for anybody but the owner, or, for reading a
 * value, a consumer that the object names; `not_found` for an object that is not
 * there, and `conflict` where several share the name and no id says which.
 */
export interface SecretObjects {
  list(caller: Caller | undefined, filter: ObjectFilter): Promise<ObjectPage>;
  /** In alphabetical order. */
  listUsedBy(caller: Caller | undefined, ref: ObjectRef): Promise<string[]>;
  /** @throws AppError for a value or a tag that is none; `conflict` when the name leaves no room for another variant; `invalid_input` beyond 100,000 objects. */
  create(object: NewSecretObject, origin: Origin): Promise<SecretObject>;
  read(ref: ObjectRef, origin: Origin): Promise<PresentValue>;
  /** Replaces the value. Consumers, tags and the time of rotation stay where they are left out. @throws AppError as `create`; `precondition_failed` for another value than `ifMatch` names. */
  update(ref: ObjectRef, change: ObjectChange, origin: Origin): Promise<SecretObject>;
  /** @throws AppError `conflict` when the new name leaves no room for this variant. */
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

/** One for each host of a large fleet, many times over; some lists look at all of them. */
const MAX_OBJECTS = 100_000;

async function requireRoom(transaction: Database): Promise<void> {
  const [{ count } = { count: 0 }] = await countObjects(transaction, {});
  if (count < MAX_OBJECTS) return;
  throw new AppError('invalid_input', `Expected at most ${MAX_OBJECTS} objects; delete some first.`);
}

const countObjects = prepare((database) =>
  database.selectFrom('secret_objects').select(({ fn }) => fn.countAll<number>().as('count')),
);

/** Who brings a value, and when. */
interface Sender {
  readonly by: Actor;
  readonly at: number;
}

function parseValue({ value, recipients = [] }: ObjectValue, sender: Sender): NewValue {
  const sealed = parseSealedValue(value);
  const named = [...new Set(recipients)];
  if (named.length > sealed.recipientCount) {
    const message = `Expected at most as many recipients as the value is sealed to, ${sealed.recipientCount}.`;
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
