/** The consumers and tags of secrets. All functions run in the caller's transaction. */
import type { Database } from '../storage/database.js';
import { prepareInsert } from '../storage/prepared.js';

const insertConsumer = prepareInsert('secret_object_consumers');
const insertTag = prepareInsert('secret_object_tags');

/** Replaces the consumers of a secret; duplicates are stored once. */
export async function saveConsumers(database: Database, id: string, consumers: readonly string[]): Promise<void> {
  await database.deleteFrom('secret_object_consumers').where('object_id', '=', id).execute();
  for (const consumer of new Set(consumers)) await insertConsumer(database, { object_id: id, consumer });
}

export async function saveTags(database: Database, id: string, tags: readonly string[]): Promise<void> {
  await database.deleteFrom('secret_object_tags').where('object_id', '=', id).execute();
  for (const tag of tags) await insertTag(database, { object_id: id, tag });
}

/** Returns the consumers of a secret in alphabetical order. */
export async function listSecretConsumers(database: Database, id: string): Promise<string[]> {
  const own = database.selectFrom('secret_object_consumers').select('consumer').where('object_id', '=', id);
  return (await own.orderBy('consumer').execute()).map(({ consumer }) => consumer);
}
