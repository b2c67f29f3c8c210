import { createHash } from 'node:crypto';
import type { SelectQueryBuilder } from 'kysely';
import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { AuditLogTable, Tables } from '../storage/tables.js';
import { toActor } from './actor.js';
import type { Origin } from './actor.js';

export type AuditAction = 'create' | 'delete' | 'read' | 'rename' | 'update';

export interface NewAuditEntry {
  readonly slug: string;
  readonly variantId: string;
  readonly action: AuditAction;
  readonly previousSlug?: string;
}

export interface AuditEntry {
  readonly id: number;
  readonly slug: string;
  readonly variantId: string | undefined;
  readonly action: AuditAction;
  readonly at: Date;
  readonly ip: string;
  readonly caller: string | undefined;
  readonly actorType: Caller['kind'] | undefined;
  readonly actorId: string | undefined;
  readonly previousSlug: string | undefined;
}

/** Entries must satisfy every filter that is given. */
export interface AuditFilter {
  readonly slug?: string | undefined;
  readonly caller?: string | undefined;
  /** An actor's id; `none` stands for requests without a credential. */
  readonly actor?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
  /** Goes on behind this entry, in the order asked for. */
  readonly after?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly limit?: number | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** How many match, over all pages. */
  readonly total: number;
  /** What `after` gives the next page; `undefined` on the last. */
  readonly next: number | undefined;
}

export interface AuditLog {
  query(caller: Caller | undefined, filter: AuditFilter): Promise<AuditPage>;
}

const DEFAULT_LIMIT = 50;

export function createAuditLog(database: Database): AuditLog {
  return {
    async query(caller, { after, order = 'asc', limit = DEFAULT_LIMIT, ...filter }) {
      requireOwner(caller);
      const matching = applyFilter(database.selectFrom('audit_log'), filter);
      const { total } = await matching.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      let page = matching
        .selectAll()
        .orderBy('id', order)
        .limit(limit + 1);
      if (after !== undefined) page = page.where('id', order === 'asc' ? '>' : '<', after);
      const rows = await page.execute();
      const entries = rows.slice(0, limit).map(toEntry);
      return { entries, total, next: rows.length > limit ? entries.at(-1)?.id : undefined };
    },
  };
}

/**
 * Writes an entry in the caller's transaction, so that it is there exactly when
 * the change is. Each holds the hash of the one before: none can be changed or
 * taken out unnoticed.
 */
export async function appendAudit(transaction: Database, entry: NewAuditEntry, origin: Origin): Promise<void> {
  await inTransaction(transaction, async (inner) => {
    const last = await inner
      .selectFrom('audit_log')
      .select(['id', 'hash'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    const actor = origin.caller && toActor(origin.caller);
    const row = {
      id: (last?.id ?? 0) + 1,
      slug: entry.slug,
      variant_id: entry.variantId,
      action: entry.action,
      at: origin.at,
      ip: origin.ip,
      caller: origin.callerName ?? null,
      actor_type: actor?.type ?? null,
      actor_id: actor?.id ?? null,
      previous_slug: entry.previousSlug ?? null,
    };
    await inner
      .insertInto('audit_log')
      .values({ ...row, hash: hashEntry(last?.hash ?? '', row) })
      .execute();
  });
}

/** Over the values in the order of the columns, as JSON, which has one spelling for them. */
export function hashEntry(previousHash: string, row: Omit<AuditLogTable, 'hash'>): string {
  const { id, slug, variant_id, action, at, ip, caller, actor_type, actor_id, previous_slug } = row;
  const values = [previousHash, id, slug, variant_id, action, at, ip, caller, actor_type, actor_id, previous_slug];
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

type Query = SelectQueryBuilder<Tables, 'audit_log', object>;

function applyFilter(query: Query, { slug, caller, actor, from, to }: AuditFilter): Query {
  let filtered = query;
  if (slug !== undefined) filtered = filtered.where('slug', '=', slug);
  if (caller !== undefined) filtered = filtered.where('caller', '=', caller);
  if (actor === 'none') filtered = filtered.where('actor_id', 'is', null);
  else if (actor !== undefined) filtered = filtered.where('actor_id', '=', actor);
  if (from !== undefined) filtered = filtered.where('at', '>=', from.getTime());
  if (to !== undefined) filtered = filtered.where('at', '<', to.getTime());
  return filtered;
}

function toEntry(row: AuditLogTable): AuditEntry {
  return {
    id: row.id,
    slug: row.slug,
    variantId: row.variant_id ?? undefined,
    // Only what appendAudit() wrote is here.
    action: row.action as AuditAction,
    at: new Date(row.at),
    ip: row.ip,
    caller: row.caller ?? undefined,
    actorType: (row.actor_type ?? undefined) as AuditEntry['actorType'],
    actorId: row.actor_id ?? undefined,
    previousSlug: row.previous_slug ?? undefined,
  };
}
