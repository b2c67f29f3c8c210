import { sql } from 'kysely';
import { createAccounts } from '../../src/accounts/accounts.js';
import { serviceTokens } from '../../src/accounts/bearer-tokens.js';
import { createCliServiceTokens } from '../../src/secrets/service-tokens.js';
import { type Database, type DatabaseTarget, isPostgres } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';

/** The number of rows of each kind. */
export interface ListSizes {
  readonly secrets: number;
  readonly entries: number;
  readonly consumers: number;
  readonly people: number;
}

export interface Visitor {
  readonly cookie: string;
  readonly writeToken: string;
}

/** The time of the first entry of the audit log, and the time between two. */
export const START = Date.parse('2026-01-01T00:00:00Z');
export const STEP_MS = 20_000;

/** Fills a new database by SQL, and creates an admin with a session and a write token. */
export async function seedLists(place: DatabaseTarget, sizes: ListSizes): Promise<Visitor> {
  const database = await openDatabase(place, { hasDeadlines: false });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  const tokens = createCliServiceTokens(database, { store: serviceTokens });
  const { token: writeToken } = await tokens.create('write', { description: 'bench' });
  // Random writes to indexes are slow if these do not fit into the cache.
  if (!isPostgres(database)) await sql`pragma cache_size = -1000000`.execute(database);
  for (const fill of [fillPeople, fillSecrets, fillEntries]) {
    await database.transaction().execute((transaction) => fill(transaction, sizes, id));
  }
  // PostgreSQL does both automatically, some minutes later.
  if (isPostgres(database)) await sql`vacuum analyze`.execute(database);
  await database.destroy();
  return { cookie: `trellis_session=${session}`, writeToken };
}

/** A table with the numbers from 0 as `i`. */
const numbers = (count: number) => sql`
  (with recursive numbers (i) as (select cast(0 as bigint) union all select i + 1 from numbers where i < ${sql.lit(count - 1)})
  select i from numbers) as numbers`;

async function fillPeople(database: Database, { people, consumers }: ListSizes, owner: string): Promise<void> {
  await sql`
    insert into people (id, username, username_key, display_name, is_admin, created_at)
    select 'person-' || i, 'user-' || (1000000 + i), 'user-' || (1000000 + i), 'User ' || i, 0, ${sql.lit(START)} + i
    from ${numbers(people)}`.execute(database);
  await sql`
    insert into tokens (id, kind, hash, person_id, consumer, label, scopes, created_at, expires_at)
    select 'token-' || i, 'consumer', 'hash-' || i, ${owner}, 'acme/host-' || (10000 + i / 2), 'bench', '',
      ${sql.lit(START)} + i, ${sql.lit(START)} + 40000000000 from ${numbers(consumers * 2)}`.execute(database);
  await sql`
    insert into request_log (id, logged_at, forge, method, endpoint, outcome, account, status_code)
    select 'request-' || (1000000 + i), ${sql.lit(START)} + i, 'github', 'GET', '/repos', 'success', 'user-' || (i % 50), 200
    from ${numbers(people)}`.execute(database);
}

/**
 * Every secret has the tag `prod`, one of 200 others, and one of the consumers; every other one has the consumer `fleet`
 * too. Every 20th should be resealed, and every 10th rotates, of which a tenth are due.
 */
async function fillSecrets(database: Database, { secrets, consumers }: ListSizes): Promise<void> {
  await sql`
    insert into secret_consumers (name, public_key)
    select 'acme/host-' || (10000 + i), 'age1key' || i from ${numbers(consumers)}`.execute(database);
  const id = sql`'00000000-0000-4000-8000-' || (100000000000 + (i * 7919) % ${sql.lit(secrets)})`;
  const slug = sql`'secret-' || (10000000 + i)`;
  const created = sql`${sql.lit(START)} + i`;
  await sql`
    insert into secret_objects (id, slug, version, created_at, updated_at, created_by_type, created_by_id,
      updated_by_type, updated_by_id, rotate_after_days, noted_version, needs_reseal)
    select ${id}, ${slug}, 1, ${created}, ${created}, 'session', 'admin', 'session', 'admin',
      case when i % 100 = 0 then 1 when i % 10 = 0 then 3650 end, 1, case when i % 20 = 0 then 1 else 0 end
    from ${numbers(secrets)}`.execute(database);
  const sealed = isPostgres(database) ? sql`decode(repeat('61', 200), 'hex')` : sql`zeroblob(200)`;
  await sql`
    insert into secret_object_values (object_id, version, created_at, created_by_type, created_by_id, recipient_count, sealed)
    select ${id}, 1, ${created}, 'session', 'admin', 1, ${sealed} from ${numbers(secrets)}`.execute(database);
  await sql`
    insert into secret_object_recipients (object_id, version, recipient)
    select ${id}, 1, 'age1key' || (case when i % 20 = 0 then -1 else i % ${sql.lit(consumers)} end)
    from ${numbers(secrets)}`.execute(database);
  const insertLinks = (table: string, column: string, value: unknown, where: unknown) =>
    sql`
      insert into ${sql.table(table)} (object_id, ${sql.ref(column)}, slug, created_at)
      select ${id}, ${value}, ${slug}, ${created} from ${numbers(secrets)} where ${where}`.execute(database);
  const consumer = sql`'acme/host-' || (10000 + i % ${sql.lit(consumers)})`;
  await insertLinks('secret_object_consumers', 'consumer', consumer, sql`true`);
  await insertLinks('secret_object_consumers', 'consumer', sql`'fleet'`, sql`i % 2 = 1`);
  await insertLinks('secret_object_tags', 'tag', sql`'prod'`, sql`true`);
  await insertLinks('secret_object_tags', 'tag', sql`'team-' || (i % 200)`, sql`true`);
}

async function fillEntries(database: Database, { entries, secrets }: ListSizes): Promise<void> {
  const isToken = sql`i % 50 = 0`;
  const [{ count } = { count: 0 }] = (
    await sql<{ count: number }>`select count(*) as count from audit_log`.execute(database)
  ).rows;
  const offset = sql.lit(count + 1);
  await sql`
    insert into audit_log (id, action, subject_type, slug, variant_id, subject_id, at, ip, caller, actor_type, actor_id, hash)
    select i + ${offset}, 'read', case when ${isToken} then 'token' else 'object' end,
      case when ${isToken} then null else 'secret-' || (10000000 + (i * 31) % ${sql.lit(secrets)}) end,
      case when ${isToken} then null else '00000000-0000-4000-8000-000000000000' end,
      case when ${isToken} then 'token' end, ${sql.lit(START)} + i * ${sql.lit(STEP_MS)}, '192.0.2.7',
      'caller-' || (i % 300), case when i % 1000 = 0 then null else 'token' end,
      case when i % 1000 = 0 then null else 'token-' || (i % 40) end, ${'0'.repeat(64)}
    from ${numbers(entries)}`.execute(database);
  await sql`update audit_head set count = count + ${sql.lit(entries)}`.execute(database);
}
