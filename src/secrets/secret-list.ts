import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import type { Database } from '../storage/database.js';
import type { Tables } from '../storage/tables.js';
import { rotationDueCondition } from './rotation.js';
import { readSecretMetadataList, type SecretMetadata, type SecretTableRow } from './secret-records.js';

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
  readonly limit?: number;
  readonly offset?: number;
}

export interface SecretListPage {
  readonly secrets: readonly SecretMetadata[];
  /** The number of matches on all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

const DEFAULT_LIMIT = 50;

/** The number of secrets whose metadata is read at once; databases limit the parameters of a statement. */
const CHUNK = 500;

/** Lists secrets by slug, variants by their time of creation. @param at The current time. */
export async function listSecrets(database: Database, filter: SecretListFilter, at: number): Promise<SecretListPage> {
  const { limit = DEFAULT_LIMIT, offset = 0, needsReseal } = filter;
  const matching = database.selectFrom('secret_objects').where((where) => where.and(toConditions(where, filter, at)));
  const { objects, total } =
    needsReseal === undefined
      ? await readPage(database, matching, { limit, offset, at })
      : await readFiltered(database, matching, { limit, offset, at, needsReseal });
  return { secrets: objects, total, next: offset + limit < total ? offset + limit : undefined };
}

type Where = ExpressionBuilder<Tables, 'secret_objects'>;

function toConditions(where: Where, { slug, usedBy, tags = [], isDue }: SecretListFilter, at: number) {
  const isTagged = (tag: string) =>
    where('id', 'in', where.selectFrom('secret_object_tags').select('object_id').where('tag', '=', tag));
  const isUsed = (consumer: string) =>
    where('id', 'in', where.selectFrom('secret_object_consumers').select('object_id').where('consumer', '=', consumer));
  const due = rotationDueCondition(at);
  return [
    ...[...new Set(tags.map((tag) => tag.toLowerCase()))].map(isTagged),
    ...(slug === undefined ? [] : [where('slug', '=', slug)]),
    ...(usedBy === undefined ? [] : [isUsed(usedBy)]),
    ...(isDue === undefined ? [] : [isDue ? due : where.not(due)]),
  ];
}

type Matching = SelectQueryBuilder<Tables, 'secret_objects', object>;

interface Window {
  readonly limit: number;
  readonly offset: number;
  readonly at: number;
}

async function readPage(database: Database, matching: Matching, { limit, offset, at }: Window) {
  const { total } = await matching.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await inOrder(matching).limit(limit).offset(offset).execute();
  return { objects: await readSecretMetadataList(database, rows, at), total };
}

/** Filters by `needsReseal`, which is computed from the complete metadata and not by the database. */
async function readFiltered(
  database: Database,
  matching: Matching,
  { limit, offset, at, needsReseal }: Window & { readonly needsReseal: boolean },
) {
  const rows: SecretTableRow[] = await inOrder(matching).execute();
  const filtered: SecretMetadata[] = [];
  for (let start = 0; start < rows.length; start += CHUNK) {
    const objects = await readSecretMetadataList(database, rows.slice(start, start + CHUNK), at);
    filtered.push(...objects.filter(({ reseal }) => (reseal !== undefined) === needsReseal));
  }
  return { objects: filtered.slice(offset, offset + limit), total: filtered.length };
}

function inOrder(matching: Matching) {
  return matching.selectAll().orderBy('slug').orderBy('created_at').orderBy('id');
}
