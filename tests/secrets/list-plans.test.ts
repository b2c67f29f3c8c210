/** No list reads a whole table: the plans of the statements of each list, over more rows than it sorts. */
import type { CompiledQuery, RootOperationNode } from 'kysely';
import { createUserStore } from '../../src/accounts/users.js';
import { createAuditLog } from '../../src/secrets/audit/log.js';
import { createConsumerStore } from '../../src/secrets/consumers.js';
import { recordDueRotations } from '../../src/secrets/rotation.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import type { Database } from '../../src/storage/database.js';
import { sql } from '../../src/storage/kysely.js';
import { engine, openTestDatabase } from '../storage/engine.js';
import { DAY_MS, owner, START } from './fixtures.js';

/** More than any list sorts or tests. */
const ROWS = 12_000;

const LARGE = /^(?:audit_log|people|secret_object(?:s|_consumers|_recipients|_tags|_values))$/;

let database: Database;
let seen: CompiledQuery[];
let recorded: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  await fill();
  recorded = database.withPlugin({
    transformQuery({ node, queryId }): RootOperationNode {
      seen.push(database.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
});
afterAll(() => database.destroy());
beforeEach(() => {
  seen = [];
});

async function fill(): Promise<void> {
  const numbers = sql`(with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(ROWS)})
    select i from n) as n`;
  const statements = [
    sql`insert into secret_objects (id, slug, created_at, updated_at, created_by_type, created_by_id, updated_by_type,
      updated_by_id, rotate_after_days, noted_version) select 'id-' || i, 'slug-' || i, i, i, 't', 't', 't', 't', 1, 1
      from ${numbers}`,
    sql`insert into secret_object_tags (object_id, tag, slug, created_at)
      select 'id-' || i, 'tag-' || (i % 2), 'slug-' || i, i from ${numbers}`,
    sql`insert into secret_object_consumers (object_id, consumer, slug, created_at)
      select 'id-' || i, 'host-' || (i % 50), 'slug-' || i, i from ${numbers}`,
    sql`insert into secret_object_values (object_id, version, created_at, created_by_type, created_by_id, recipient_count,
      sealed) select 'id-' || i, 1, i, 't', 't', 1, '' from ${numbers}`,
    sql`insert into secret_object_recipients (object_id, version, recipient) select 'id-' || i, 1, 'age1x' from ${numbers}`,
    sql`insert into audit_log (id, action, subject_type, slug, at, ip, caller, actor_type, actor_id, hash)
      select i, 'read', 'object', 'slug-' || i, ${sql.lit(START)} + i, 'ip', 'c-' || (i % 9), 'token', 't-' || (i % 2), ''
      from ${numbers}`,
    sql`insert into people (id, username, username_key, display_name, is_admin, created_at)
      select 'p-' || i, 'u-' || i, 'u-' || i, 'U', 0, i from ${numbers}`,
  ];
  for (const statement of statements) await statement.execute(database);
  if (engine === 'PostgreSQL') await sql`analyze`.execute(database);
}

const secrets = () => createSecretStore(recorded, () => START + DAY_MS);
const audit = () => createAuditLog(recorded);
const time = (after: number): Date => new Date(START + after);

test.each<[string, () => Promise<unknown>]>([
  ['secrets', () => secrets().list(owner, {})],
  ['secrets, next page', async () => secrets().list(owner, { cursor: (await secrets().list(owner, {})).next })],
  ['secrets, offset', () => secrets().list(owner, { offset: 100 })],
  ['secrets, slug', () => secrets().list(owner, { slug: 'slug-7' })],
  ['secrets, consumer', () => secrets().list(owner, { usedBy: 'host-7' })],
  ['secrets, tags', () => secrets().list(owner, { tags: ['tag-0', 'tag-1'] })],
  ['secrets, tag and consumer', () => secrets().list(owner, { tags: ['tag-0'], usedBy: 'host-7' })],
  ['secrets, reseal', () => secrets().list(owner, { needsReseal: true })],
  ['secrets, no reseal, due', () => secrets().list(owner, { needsReseal: false, isDue: true })],
  ['secrets, due', () => secrets().list(owner, { isDue: true })],
  ['secrets, few due', () => createSecretStore(recorded, () => DAY_MS + 9).list(owner, { isDue: true })],
  ['secrets, not due', () => secrets().list(owner, { isDue: false })],
  ['check for due secrets', () => recordDueRotations(recorded, DAY_MS + 9)],
  ['names of consumers', () => createConsumerStore(recorded).listNames(owner)],
  ['consumers', () => createConsumerStore(recorded).list(owner, { page: 2 })],
  ['audit log', () => audit().query(owner, {})],
  ['audit log, slug, newest', () => audit().query(owner, { slug: 'slug-7', order: 'desc' })],
  ['audit log, subject', () => audit().query(owner, { subjectType: 'object', after: 100 })],
  ['audit log, caller and actor', () => audit().query(owner, { caller: 'c-1', actor: 't-1' })],
  ['audit log, no actor', () => audit().query(owner, { actor: 'none' })],
  ['audit log, short time', () => audit().query(owner, { from: time(100), to: time(200) })],
  ['audit log, long time', () => audit().query(owner, { from: time(100) })],
  ['audit log, long time and subject', () => audit().query(owner, { to: time(11_900), subjectType: 'object' })],
  ['values of filters', () => audit().listFilterOptions(owner)],
  ['users', () => createUserStore(recorded).list(owner, { limit: 10 })],
])('%s', async (_name, list) => {
  await list();
  expect(seen.length).toBeGreaterThan(0);
  const scans = await database.transaction().execute(async (transaction) => {
    if (engine === 'PostgreSQL') await sql`set local enable_seqscan = off`.execute(transaction);
    const found: string[] = [];
    for (const query of seen) {
      const lines =
        engine === 'PostgreSQL' ? await explainPostgres(transaction, query) : await explainSqlite(transaction, query);
      for (const line of lines) found.push(`${line}: ${query.sql}`);
    }
    return found;
  });
  expect(scans).toEqual([]);
});

/** Lists the scans of tables, and those of indexes for which no limit ends the statement early. */
async function explainSqlite(transaction: Database, query: CompiledQuery): Promise<string[]> {
  const explained = { ...query, sql: `explain query plan ${query.sql}` };
  const { rows } = await transaction.executeQuery<{ detail: string }>(explained);
  return rows
    .map(({ detail }) => detail)
    .filter((detail) => {
      const [, table = '', index] = /^SCAN (\S+)(?: USING (?:COVERING )?(INDEX))?/.exec(detail) ?? [];
      return LARGE.test(table) && (index === undefined || !isBounded(query.sql));
    });
}

/** Counting all users is not worth a limit. */
const isBounded = (text: string): boolean => /\blimit\b|\bmin\(|from "people"/i.test(text);

/** Lists the sequential scans, which PostgreSQL only uses here if there is no index. */
async function explainPostgres(transaction: Database, query: CompiledQuery): Promise<string[]> {
  const { rows } = await transaction.executeQuery<Record<string, string>>({ ...query, sql: `explain ${query.sql}` });
  return rows
    .map((row) => Object.values(row).join())
    .filter((line) => LARGE.test(/Seq Scan on (\S+)/.exec(line)?.[1] ?? ''));
}
