import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { toActor } from './actor.js';
import type { Actor, Origin } from './actor.js';
import { appendAudit, inAuditedTransaction } from './audit-chain.js';
import { describeObject, toStoredActor } from './object-details.js';
import type { SecretObject } from './object-details.js';
import type { ReadValue } from './object-reader.js';
import { findValue, listRecipients, replaceValue } from './object-values.js';
import type { SealedValue } from './sealed-value.js';
import { requireVariant } from './variants.js';
import type { ObjectRef, ObjectRow } from './variants.js';

/** The metadata of a previous value. */
export interface ObjectVersion {
  readonly version: number;
  /** The time at which it became the current value. */
  readonly createdAt: Date;
  readonly createdBy: Actor;
  readonly replacedAt: Date;
  readonly replacedBy: Actor;
  readonly recipientCount: number;
  readonly recipients: readonly string[];
}

export interface VersionRef extends ObjectRef {
  readonly version: number;
}

/** The last 10 previous values of each secret. All methods require the owner and throw as those of the secrets. */
export interface ObjectVersions {
  /** Returns the versions newest first. */
  list(caller: Caller | undefined, ref: ObjectRef): Promise<ObjectVersion[]>;
  /** @throws AppError `not_found` for an unknown or deleted version. */
  read(ref: VersionRef, origin: Origin): Promise<ReadValue>;
  /** Makes a version the current value again; the replaced value becomes a version. @throws AppError as `read`. */
  restore(ref: VersionRef, origin: Origin): Promise<SecretObject>;
}

export function createObjectVersions(database: Database): ObjectVersions {
  return {
    async list(caller, ref) {
      requireOwner(caller);
      return listVersions(database, await requireVariant(database, ref));
    },
    async read({ version, ...ref }, origin) {
      requireOwner(origin.caller);
      return inAuditedTransaction(database, async (transaction) => {
        const object = await requireVariant(transaction, ref);
        const { sealed } = await requireReplaced(transaction, object, version);
        const { id, slug } = object;
        await appendAudit(transaction, { slug, variantId: id, action: 'read', version }, origin);
        return { id, sealed };
      });
    },
    async restore({ version, ...ref }, origin) {
      const by = toActor(requireOwner(origin.caller));
      return inAuditedTransaction(database, async (transaction) => {
        const object = await requireVariant(transaction, ref);
        const { id, slug } = object;
        const value = await requireReplaced(transaction, object, version);
        const recipients = await listRecipients(transaction, { objectId: id, version });
        await replaceValue(transaction, object, { ...value, recipients, by, at: origin.at });
        await appendAudit(transaction, { slug, variantId: id, action: 'restore', version }, origin);
        return describeObject(transaction, await requireVariant(transaction, { slug, id }), origin.at);
      });
    },
  };
}

async function requireReplaced(database: Database, object: ObjectRow, version: number): Promise<SealedValue> {
  const value = version === object.version ? undefined : await findValue(database, { objectId: object.id, version });
  if (value === undefined) {
    throw new AppError('not_found', `The secret has no previous version ${version}.`, { field: 'version' });
  }
  return value;
}

async function listVersions(database: Database, { id }: ObjectRow): Promise<ObjectVersion[]> {
  const rows = await database
    .selectFrom('secret_object_values')
    .select(['version', 'created_at', 'created_by_type', 'created_by_id', 'recipient_count'])
    .select((of) => [
      of.ref('replaced_at').$notNull().as('replaced_at'),
      of.ref('replaced_by_type').$notNull().as('replaced_by_type'),
      of.ref('replaced_by_id').$notNull().as('replaced_by_id'),
    ])
    .where('object_id', '=', id)
    .where('replaced_at', 'is not', null)
    .orderBy('version', 'desc')
    .execute();
  const versions: ObjectVersion[] = [];
  for (const row of rows) {
    versions.push({
      version: row.version,
      createdAt: new Date(row.created_at),
      createdBy: toStoredActor(row.created_by_type, row.created_by_id),
      replacedAt: new Date(row.replaced_at),
      replacedBy: toStoredActor(row.replaced_by_type, row.replaced_by_id),
      recipientCount: row.recipient_count,
      recipients: await listRecipients(database, { objectId: id, version: row.version }),
    });
  }
  return versions;
}
