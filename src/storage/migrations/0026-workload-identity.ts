import type { Kysely } from 'kysely';

/** Rules that issue tokens to workloads, the tokens of issuers that were used once, and the rule of each issued token. */
export async function workloadIdentity({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('workload_rules')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('audience', 'text', (column) => column.notNull())
    .addColumn('claims', 'text', (column) => column.notNull())
    .addColumn('consumer', 'text')
    .addColumn('access', 'text')
    .addColumn('ttl_seconds', 'integer', (column) => column.notNull())
    .addColumn('single_use', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .execute();
  await schema.createIndex('workload_rules_by_issuer').on('workload_rules').column('issuer').execute();
  await schema
    .createTable('workload_used_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('workload_used_tokens_by_expiry').on('workload_used_tokens').column('expires_at').execute();
  await schema.alterTable('tokens').addColumn('workload_rule', 'text').execute();
  await schema.createIndex('tokens_by_workload_rule').on('tokens').columns(['workload_rule', 'expires_at']).execute();
}
