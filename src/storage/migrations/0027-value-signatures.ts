import type { Kysely } from 'kysely';

/** The writers' signatures of values. */
export async function valueSignatures({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('secret_object_values').addColumn('signature', 'text').execute();
}
