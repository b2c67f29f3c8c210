import { AppError } from '@trellis/core/errors';
import { type Caller, requireOwner } from '../accounts/callers.js';
import { type Database, inTransaction } from '../storage/database.js';
import { type Actor, appendAuditEntry, type RequestOrigin, toActor } from './audit/chain.js';
import type { StoredValue } from './read-values.js';
import {
  saveResealState,
  findValue,
  listExplicitRecipients,
  listRecipients,
  replaceValue,
  type SignedSealedValue,
  toValueDetail,
} from './sealed-values.js';
import {
  fromStoredActor,
  getVariant,
  lockVariant,
  type SecretMetadata,
  type SecretRef,
  type SecretTableRow,
} from './secret-records.js';
import { assertCanChange, assertInScope } from './token-scope.js';
import { assertSignsPlace, assertSignsValue, readValueSignature } from './value-signatures.js';

/** The metadata of a previous value. */
export interface SecretVersion {
  readonly version: number;
  /** The time at which it became the current value. */
  readonly createdAt: Date;
  readonly createdBy: Actor;
  readonly replacedAt: Date;
  readonly replacedBy: Actor;
  readonly recipientCount: number;
  readonly recipients: readonly string[];
  /** The statement of its writer with the signature. */
  readonly signature: string | undefined;
}

export interface VersionRef extends SecretRef {
  readonly version: number;
}

/** The last 10 previous values of each secret. All methods require the owner and throw as those of the secrets. */
export interface VersionStore {
  /** Returns the versions newest first. */
  list(caller: Caller | undefined, ref: SecretRef): Promise<SecretVersion[]>;
  /** @throws AppError `not_found` for an unknown or deleted version. */
  read(ref: VersionRef, origin: RequestOrigin): Promise<StoredValue>;
  /**
   * Makes a version the current value again, with a new signature or none; the replaced value becomes a version.
   *
   * @throws AppError as `read`; `unprocessable` or `precondition_failed` for a signature of something else.
   */
  restore(ref: VersionRef & { readonly signature?: string }, origin: RequestOrigin): Promise<SecretMetadata>;
  /** Deletes a version, or all of them; the current value stays. @throws AppError as `read`, for a named version. */
  destroy(ref: SecretRef & { readonly version?: number }, origin: RequestOrigin): Promise<void>;
}

export function createVersionStore(database: Database): VersionStore {
  return {
    async list(caller, ref) {
      requireOwner(caller);
      const object = await getVariant(database, ref);
      await assertInScope(database, caller, object);
      return listVersions(database, object);
    },
    async read({ version, ...ref }, origin) {
      requireOwner(origin.caller);
      return inTransaction(database, async (transaction) => {
        const object = await getVariant(transaction, ref);
        await assertInScope(transaction, origin.caller, object);
        const { sealed, signatureText: signature } = await getPreviousValue(transaction, object, version);
        const { id, slug } = object;
        await appendAuditEntry(transaction, { slug, variantId: id, action: 'read', version }, origin);
        return { id, sealed, signature };
      });
    },
    async restore({ version, signature: text, ...ref }, origin) {
      const by = toActor(requireOwner(origin.caller));
      const signature = text === undefined ? undefined : await readValueSignature(text);
      const work = async (transaction: Database): Promise<SecretMetadata> => {
        const object = await lockVariant(transaction, ref);
        await assertCanChange(transaction, origin.caller, object);
        const { id, slug } = object;
        const value = await getPreviousValue(transaction, object, version);
        const key = { objectId: id, version };
        const recipients = await listRecipients(transaction, key);
        const explicitRecipients = await listExplicitRecipients(transaction, key);
        if (signature) {
          await assertSignsValue(signature, { sealed: value.sealed, recipients });
          assertSignsPlace(signature, { id, slug, version: object.version + 1 });
        }
        const previous = { ...value, recipients, explicitRecipients, signature, by, at: origin.at };
        const restored = await replaceValue(transaction, object, previous);
        const detail = toValueDetail(restored.version, previous);
        await appendAuditEntry(transaction, { slug, variantId: id, action: 'restore', version, detail }, origin);
        return saveResealState(transaction, restored, origin.at);
      };
      return inTransaction(database, work, 'read committed');
    },
    async destroy({ version, ...ref }, origin) {
      requireOwner(origin.caller);
      const work = async (transaction: Database): Promise<void> => {
        const object = await lockVariant(transaction, ref);
        await assertCanChange(transaction, origin.caller, object);
        if (version !== undefined) await getPreviousValue(transaction, object, version);
        const { id, slug } = object;
        for (const destroyed of await deleteVersions(transaction, object, version))
          await appendAuditEntry(transaction, { slug, variantId: id, action: 'delete', version: destroyed }, origin);
      };
      return inTransaction(database, work, 'read committed');
    },
  };
}

/** Deletes a previous value, or all of them. @returns their numbers in rising order. */
async function deleteVersions(
  transaction: Database,
  { id, version: current }: SecretTableRow,
  version: number | undefined,
): Promise<number[]> {
  const previous = transaction.deleteFrom('secret_object_values').where('object_id', '=', id);
  const others = previous.where('version', '!=', current);
  const chosen = version === undefined ? others : others.where('version', '=', version);
  const deleted = await chosen.returning('version').execute();
  return deleted.map((row) => row.version).toSorted((one, other) => one - other);
}

async function getPreviousValue(
  database: Database,
  object: SecretTableRow,
  version: number,
): Promise<SignedSealedValue> {
  const value = version === object.version ? undefined : await findValue(database, { objectId: object.id, version });
  if (value === undefined) {
    throw new AppError('not_found', `The secret has no previous version ${version}.`, { field: 'version' });
  }
  return value;
}

async function listVersions(database: Database, { id }: SecretTableRow): Promise<SecretVersion[]> {
  const rows = await database
    .selectFrom('secret_object_values')
    .select(['version', 'created_at', 'created_by_type', 'created_by_id', 'recipient_count', 'signature'])
    .select((of) => [
      of.ref('replaced_at').$notNull().as('replaced_at'),
      of.ref('replaced_by_type').$notNull().as('replaced_by_type'),
      of.ref('replaced_by_id').$notNull().as('replaced_by_id'),
    ])
    .where('object_id', '=', id)
    .where('replaced_at', 'is not', null)
    .orderBy('version', 'desc')
    .execute();
  const versions: SecretVersion[] = [];
  for (const row of rows) {
    versions.push({
      version: row.version,
      createdAt: new Date(row.created_at),
      createdBy: fromStoredActor(row.created_by_type, row.created_by_id),
      replacedAt: new Date(row.replaced_at),
      replacedBy: fromStoredActor(row.replaced_by_type, row.replaced_by_id),
      recipientCount: row.recipient_count,
      recipients: await listRecipients(database, { objectId: id, version: row.version }),
      signature: row.signature ?? undefined,
    });
  }
  return versions;
}
