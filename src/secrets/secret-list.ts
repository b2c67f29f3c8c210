/**
 * Lists of secrets. Each filter has an index in the order of the list, so a page reads little more than its own entries;
 * see `tests/secrets/list-plans.test.ts`.
 */
import type { RawBuilder } from 'kysely';
import type { Database } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { type PageRequest, type PageStart, printCursor, toPageStart } from '../storage/list-cursor.js';
import { rotationDueCondition } from './rotation.js';
import { readSecretMetadataList, type SecretMetadata } from './secret-records.js';

/** The conditions for secrets; all given ones must match. */
export interface SecretListFilter {
  readonly slug?: string;
  readonly usedBy?: string;
  /** The secret must have all of these tags, regardless of case. */
  readonly tags?: readonly string[];
  /** Whether the value is due for rotation. */
  readonly isDue?: boolean;
  /** Whether the value should be resealed. */
  readonly needsReseal?: boolean;
}

/** The part of the secrets that a caller may list. */
export interface SecretScopeFilter {
  /** The beginning of the slug. */
  readonly namePrefix?: string;
  /** The secret must have at least one of these tags. */
  readonly anyTags?: readonly string[];
  /** The secret must name at least one of these consumers. */
  readonly anyConsumers?: readonly string[];
}

export type SecretListRequest = PageRequest & SecretListFilter & SecretScopeFilter;

export interface SecretListPage {
  readonly secrets: readonly SecretMetadata[];
  /** The number of matches on all pages; above {@link MAX_COUNT}, a smaller number that is more than the pages so far. */
  readonly total: number;
  /** The cursor of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

const DEFAULT_LIMIT = 50;

/** Counting stops here, so that it costs less than the page. */
const MAX_COUNT = 10_000;

/** Entries that match one filter and are tested for the others while counting, which costs more for each. */
const MAX_COUNT_TESTED = 2_000;

/** Above this number of matches, filters count as equally frequent. */
const MAX_COMPARED = 10_000;

/** The place of an entry in the order of the list: by slug, variants by their time of creation. */
type Key = readonly [slug: string, createdAt: number, id: string];

/** Lists secrets by slug, variants by their time of creation. @param at The current time. */
export async function listSecrets(
  database: Database,
  { limit = DEFAULT_LIMIT, offset, cursor, ...filter }: SecretListRequest,
  at: number,
): Promise<SecretListPage> {
  const start = toPageStart({ cursor, offset }, isKey);
  const search = await toSearch(database, filter, at);
  const found = await readKeys(database, search, { start, limit: limit + 1 });
  const keys = found.slice(0, limit);
  const position = start.position + keys.length;
  const hasMore = found.length > limit;
  const counted = { start, position, hasMore, isEmpty: keys.length === 0 };
  const ids = keys.map(({ id }) => id);
  const [total, secrets] = await Promise.all([
    countMatches(database, search, counted),
    readSecretMetadataList(database, ids, at),
  ]);
  const last = keys.at(-1);
  return {
    secrets,
    total,
    next: hasMore && last !== undefined ? printCursor({ key: toKey(last), position, total }) : undefined,
  };
}

type Start = PageStart<Key>;

function isKey(key: readonly unknown[]): key is Key {
  const [slug, createdAt, id] = key;
  return key.length === 3 && typeof slug === 'string' && Number.isSafeInteger(createdAt) && typeof id === 'string';
}

interface KeyRow {
  readonly id: string;
  readonly slug: string;
  readonly created_at: number;
}

const toKey = ({ slug, created_at, id }: KeyRow): Key => [slug, created_at, id];

/** A search through entries of one index, which are tested for the remaining conditions. */
interface Search {
  /** Selects `id`, `slug` and `created_at` of entries that match one filter. */
  readonly entries: RawBuilder<unknown>;
  /** The remaining conditions for `entry`. */
  readonly tests: readonly RawBuilder<unknown>[];
}

/** One filter: the entries of its index, and the same condition for the entries of other indexes. */
interface Condition {
  readonly entries: RawBuilder<unknown>;
  readonly test: RawBuilder<unknown>;
}

/** Searches through the index with the fewest matches, and tests the other filters for each of them. */
async function toSearch(database: Database, filter: SecretListFilter & SecretScopeFilter, at: number): Promise<Search> {
  const conditions = await toConditions(database, filter, at);
  const [first = { entries: fromObjects(sql`true`), test: sql`true` }, ...rest] = conditions;
  if (rest.length === 0) return { entries: first.entries, tests: [] };
  let chosen = first;
  let fewest = Infinity;
  for (const condition of conditions) {
    const count = await countUpTo(database, condition.entries, Math.min(fewest, MAX_COMPARED));
    if (count >= fewest) continue;
    chosen = condition;
    fewest = count;
  }
  const tests = conditions.filter((condition) => condition !== chosen).map(({ test }) => test);
  return { entries: chosen.entries, tests };
}

const fromObjects = (condition: RawBuilder<unknown>) =>
  sql`select id, slug, created_at from secret_objects where ${condition}`;

const objectTest = (condition: RawBuilder<unknown>) =>
  sql`exists (select 1 from secret_objects where secret_objects.id = entry.id and ${condition})`;

function linkCondition(table: 'secret_object_consumers' | 'secret_object_tags', column: string, value: string) {
  const link = sql`${sql.table(table)} where ${sql.ref(column)} = ${value}`;
  return {
    entries: sql`select object_id as id, slug, created_at from ${link}`,
    test: sql`exists (select 1 from ${link} and object_id = entry.id)`,
  };
}

/** A secret may have several links with the values, and is listed once. */
function anyLinkCondition(
  table: 'secret_object_consumers' | 'secret_object_tags',
  column: string,
  values: readonly string[],
): Condition {
  const link = sql`${sql.table(table)} where ${sql.ref(column)} in (${sql.join([...values])})`;
  return {
    entries: sql`select distinct object_id as id, slug, created_at from ${link}`,
    test: sql`exists (select 1 from ${link} and object_id = entry.id)`,
  };
}

/** The range of slugs, which are ASCII, is searched by index. */
function prefixCondition(prefix: string): Condition {
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const range = sql`slug >= ${prefix} and slug < ${end}`;
  return { entries: fromObjects(range), test: sql`entry.slug >= ${prefix} and entry.slug < ${end}` };
}

function toScopeConditions({ namePrefix, anyTags, anyConsumers }: SecretScopeFilter): Condition[] {
  return [
    ...(namePrefix === undefined ? [] : [prefixCondition(namePrefix)]),
    ...(anyTags === undefined ? [] : [anyLinkCondition('secret_object_tags', 'tag', anyTags)]),
    ...(anyConsumers === undefined ? [] : [anyLinkCondition('secret_object_consumers', 'consumer', anyConsumers)]),
  ];
}

async function toConditions(
  database: Database,
  filter: SecretListFilter & SecretScopeFilter,
  at: number,
): Promise<Condition[]> {
  const { slug, usedBy, tags = [], isDue, needsReseal } = filter;
  const conditions = toScopeConditions(filter);
  if (slug !== undefined) {
    conditions.push({ entries: fromObjects(sql`slug = ${slug}`), test: sql`entry.slug = ${slug}` });
  }
  if (usedBy !== undefined) conditions.push(linkCondition('secret_object_consumers', 'consumer', usedBy));
  for (const tag of new Set(tags.map((text) => text.toLowerCase()))) {
    conditions.push(linkCondition('secret_object_tags', 'tag', tag));
  }
  if (needsReseal !== undefined) {
    const condition = sql`needs_reseal = ${needsReseal ? 1 : 0}`;
    conditions.push({ entries: fromObjects(condition), test: objectTest(condition) });
  }
  if (isDue !== undefined) conditions.push(await toDueCondition(database, isDue, at));
  return conditions;
}

/** Due values have an index by time, not in the order of the list, so that only few of them are sorted. */
async function toDueCondition(database: Database, isDue: boolean, at: number): Promise<Condition> {
  const due = rotationDueCondition(at);
  if (!isDue) return { entries: fromObjects(sql`not ${due}`), test: objectTest(sql`not ${due}`) };
  const ids = sql`select id from secret_objects where ${due}`;
  const count = await countUpTo(database, ids, MAX_COMPARED);
  // The limit makes the database use the index of the subquery.
  const condition = count < MAX_COMPARED ? sql`id in (${ids} limit ${sql.lit(MAX_COMPARED)})` : due;
  return { entries: fromObjects(condition), test: objectTest(due) };
}

async function readKeys(
  database: Database,
  { entries, tests }: Search,
  { start, limit }: { readonly start: Start; readonly limit: number },
): Promise<KeyRow[]> {
  const { key, position } = start;
  const after = key && sql`(entry.slug, entry.created_at, entry.id) > (${sql.join([...key])})`;
  const conditions = [...(after === undefined ? [] : [after]), ...tests];
  const offset = key === undefined ? position : 0;
  const { rows } = await sql<KeyRow>`
    select entry.id, entry.slug, entry.created_at from (${entries}) as entry
    ${conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`}
    order by entry.slug, entry.created_at, entry.id limit ${limit} offset ${offset}`.execute(database);
  return rows;
}

interface Counted {
  readonly start: Start;
  /** The number of entries up to the end of the page. */
  readonly position: number;
  readonly hasMore: boolean;
  readonly isEmpty: boolean;
}

/** Counts once: the last page needs no count, and a cursor contains the count of the first page. */
async function countMatches(
  database: Database,
  { entries, tests }: Search,
  { start, position, hasMore, isEmpty }: Counted,
): Promise<number> {
  if (!hasMore && !(isEmpty && start.position > 0)) return position;
  if (start.total !== undefined) return Math.max(start.total, hasMore ? position + 1 : 0);
  const counted =
    tests.length === 0
      ? await countUpTo(database, entries, MAX_COUNT)
      : await countUpTo(
          database,
          sql`select 1 as found from (${entries} limit ${sql.lit(MAX_COUNT_TESTED)}) as entry where ${sql.join([...tests], sql` and `)}`,
          MAX_COUNT_TESTED,
        );
  return hasMore ? Math.max(counted, position + 1) : counted;
}

async function countUpTo(database: Database, rows: RawBuilder<unknown>, limit: number): Promise<number> {
  const counted = sql<{ count: number }>`select count(*) as count from (${rows} limit ${sql.lit(limit)}) as counted`;
  const [{ count } = { count: 0 }] = (await counted.execute(database)).rows;
  return count;
}
