import type { Kysely } from 'kysely';

/** The repositories that a forge hides from the credential. */
export async function hiddenRepositories({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('forge_states').addColumn('hidden', 'text').execute();
}
