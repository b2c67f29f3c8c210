import type { Kysely } from 'kysely';

/** The details by which users recognise their sessions. */
export async function sessionDetails({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('sessions').addColumn('browser', 'text').execute();
  await schema.alterTable('sessions').addColumn('last_used_at', 'bigint').execute();
}
