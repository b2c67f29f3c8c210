import type { Database } from '../../storage/database.js';

/** Makes the rules of a consumer follow its new name, as its tokens do. */
export async function renameInRules(transaction: Database, from: string, to: string): Promise<void> {
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
