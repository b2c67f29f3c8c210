import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { toQuery } from './audit-filters.js';
import type { AuditFilter } from './audit-filters.js';
import type { AuditLogEntry } from './objects.js';

export interface AuditPage {
  readonly filter: AuditFilter;
  /** Newest first. */
  readonly entries: readonly AuditLogEntry[];
  /** How many fit the filter, over all pages. */
  readonly count: number;
}

interface Wanted {
  /** Goes on behind this entry; from the newest when left out. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export async function loadAuditPage(filter: AuditFilter, { after, limit }: Wanted): Promise<AuditPage> {
  const query = { order: 'desc' as const, limit, ...toQuery(filter), ...(after !== undefined && { after }) };
  const answer = await secrets.GET('/audit-log', { params: { query } });
  const entries: readonly AuditLogEntry[] = requireAnswer(answer);
  return { filter, entries, count: Number(answer.response.headers.get('X-Total-Count')) };
}

/** As many as the service gives at once. */
const AT_ONCE = 500;

/** A hundred requests: a sixth of what a session may ask in a minute, and some megabytes. */
export const MOST_EXPORTED = 50_000;

/** What fits a filter, newest first, up to a bound. */
export async function readAuditLog(filter: AuditFilter): Promise<readonly AuditLogEntry[]> {
  const all: AuditLogEntry[] = [];
  while (all.length < MOST_EXPORTED) {
    const { entries } = await loadAuditPage(filter, { after: all.at(-1)?.id, limit: AT_ONCE });
    all.push(...entries);
    if (entries.length < AT_ONCE) break;
  }
  return all;
}
