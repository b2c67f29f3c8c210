import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { toQuery } from './audit-filters.js';
import type { AuditFilter } from './audit-filters.js';
import type { AuditLogEntry } from './objects.js';

export interface AuditPage {
  readonly filter: AuditFilter;
  /** Newest first. */
  readonly entries: readonly AuditLogEntry[];
  /** The number of matching entries on all pages. */
  readonly count: number;
}

interface PageOptions {
  /** The id of the last entry of the previous page; starts with the newest entry when omitted. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export async function loadAuditPage(filter: AuditFilter, { after, limit }: PageOptions): Promise<AuditPage> {
  const query = { order: 'desc' as const, limit, ...toQuery(filter), ...(after !== undefined && { after }) };
  const result = await secrets.GET('/audit-log', { params: { query } });
  const entries: readonly AuditLogEntry[] = requireAnswer(result);
  return { filter, entries, count: Number(result.response.headers.get('X-Total-Count')) };
}

/** The largest page that the service returns. */
const MAX_PAGE_SIZE = 500;

/** Reading this many entries takes 100 requests, a sixth of the limit of a session per minute, and some megabytes. */
export const MOST_EXPORTED = 50_000;

/** Reads the entries that match a filter, newest first, at most {@link MOST_EXPORTED}. */
export async function readAuditLog(filter: AuditFilter): Promise<readonly AuditLogEntry[]> {
  const all: AuditLogEntry[] = [];
  while (all.length < MOST_EXPORTED) {
    const { entries } = await loadAuditPage(filter, { after: all.at(-1)?.id, limit: MAX_PAGE_SIZE });
    all.push(...entries);
    if (entries.length < MAX_PAGE_SIZE) break;
  }
  return all;
}
