import type { Database } from '../storage/database.js';
import type { Actor } from './actor.js';
import { toSecretEtag } from './secret-etag.js';
import { findResealReason } from './reseal.js';
import type { ResealReason } from './reseal.js';
import { toDueAt } from './rotation.js';
import type { SecretTableRow } from './variants.js';

/** The metadata of a secret, without its value. */
export interface SecretMetadata {
  readonly id: string;
  readonly slug: string;
  /** Identifies the current value. */
  readonly etag: string;
  readonly tags: readonly string[];
  readonly usedBy: readonly string[];
  readonly description: string | undefined;
  readonly createdAt: Date;
  /** The time of the current value; equals `createdAt` until the value is replaced. */
  readonly updatedAt: Date;
  readonly createdBy: Actor;
  readonly updatedBy: Actor;
  readonly rotation: RotationState | undefined;
  /** The number of recipients in the age header. */
  readonly recipientCount: number;
  /** The public keys that the client recorded with the value; may be empty. */
  readonly recipients: readonly string[];
  readonly reseal: ResealReason | undefined;
}

export interface RotationState {
  readonly afterDays: number;
  readonly dueAt: Date;
  readonly isDue: boolean;
}

/** Returns the metadata of secrets, with one query per table. @param at The current time. */
export async function readSecretMetadataList(
  database: Database,
  rows: readonly SecretTableRow[],
  at: number,
): Promise<SecretMetadata[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const tags = groupById(await readTags(database, ids));
  const consumers = groupById(await readConsumers(database, ids));
  const recipients = groupById(await readRecipients(database, ids));
  const counts = groupById(await readCounts(database, ids));
  const owner = await database.selectFrom('secret_owner').select('public_key').executeTakeFirst();
  return rows.map((row) => {
    const used = (consumers.get(row.id) ?? []).map(({ name, key }) => ({ name, publicKey: key ?? undefined }));
    const sealing = {
      recipients: (recipients.get(row.id) ?? []).map(({ recipient }) => recipient),
      recipientCount: counts.get(row.id)?.[0]?.recipient_count ?? 0,
    };
    return {
      ...toStoredMetadata(row),
      tags: (tags.get(row.id) ?? []).map(({ tag }) => tag),
      usedBy: used.map(({ name }) => name),
      rotation: toRotation(row, at),
      ...sealing,
      reseal: findResealReason({ consumers: used, ownerKey: owner?.public_key, ...sealing }),
    };
  });
}

/** Returns the metadata of one secret; see {@link readSecretMetadataList}. */
export async function readSecretMetadata(database: Database, row: SecretTableRow, at: number): Promise<SecretMetadata> {
  const [object] = await readSecretMetadataList(database, [row], at);
  if (object === undefined) throw new Error('describeObjects() returned no metadata for a row.');
  return object;
}

function toStoredMetadata(row: SecretTableRow) {
  return {
    id: row.id,
    slug: row.slug,
    etag: toSecretEtag(row),
    description: row.description ?? undefined,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    createdBy: fromStoredActor(row.created_by_type, row.created_by_id),
    updatedBy: fromStoredActor(row.updated_by_type, row.updated_by_id),
  };
}

/** Restores an actor from its columns; only results of `toActor` are stored there. */
export function fromStoredActor(type: string, id: string): Actor {
  return { type: type as Actor['type'], id };
}

function toRotation(
  { rotate_after_days: afterDays, updated_at }: SecretTableRow,
  at: number,
): RotationState | undefined {
  if (afterDays === null) return undefined;
  const dueAt = toDueAt(updated_at, afterDays);
  return { afterDays, dueAt: new Date(dueAt), isDue: dueAt <= at };
}

function readTags(database: Database, ids: readonly string[]) {
  const tags = database.selectFrom('secret_object_tags').selectAll();
  return tags.where('object_id', 'in', ids).orderBy('tag').execute();
}

function readConsumers(database: Database, ids: readonly string[]) {
  return database
    .selectFrom('secret_object_consumers')
    .leftJoin('secret_consumers', 'name', 'consumer')
    .select(['object_id', 'consumer as name', 'public_key as key'])
    .where('object_id', 'in', ids)
    .orderBy('consumer')
    .execute();
}

function readRecipients(database: Database, ids: readonly string[]) {
  return database
    .selectFrom('secret_object_recipients as recipients')
    .innerJoin('secret_objects as objects', (join) =>
      join.onRef('objects.id', '=', 'recipients.object_id').onRef('objects.version', '=', 'recipients.version'),
    )
    .select(['object_id', 'recipient'])
    .where('object_id', 'in', ids)
    .orderBy('recipient')
    .execute();
}

function readCounts(database: Database, ids: readonly string[]) {
  return database
    .selectFrom('secret_object_values as present')
    .innerJoin('secret_objects as objects', (join) =>
      join.onRef('objects.id', '=', 'present.object_id').onRef('objects.version', '=', 'present.version'),
    )
    .select(['object_id', 'recipient_count'])
    .where('object_id', 'in', ids)
    .execute();
}

function groupById<T extends { readonly object_id: string }>(rows: readonly T[]): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(row.object_id);
    if (group === undefined) groups.set(row.object_id, [row]);
    else group.push(row);
  }
  return groups;
}
