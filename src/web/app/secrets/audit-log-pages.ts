import { requireData } from '../api-errors.js';
import { secretsClient } from './client.js';
import { toAuditLogQuery } from './audit-filters.js';
import type { AuditFilterState } from './audit-filters.js';
import type { AuditLogEntry } from './secrets.js';

export interface AuditEntryPage {
  readonly filter: AuditFilterState;
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

export async function loadAuditEntryPage(
  filter: AuditFilterState,
  { after, limit }: PageOptions,
): Promise<AuditEntryPage> {
  const query = { order: 'desc' as const, limit, ...toAuditLogQuery(filter), ...(after !== undefined && { after }) };
  const result = await secretsClient.GET('/audit-log', { params: { query } });
  const entries: readonly AuditLogEntry[] = requireData(result);
  return { filter, entries, count: Number(result.response.headers.get('X-Total-Count')) };
}

/** The largest page that the service returns. */
const MAX_PAGE_SIZE = 500;

/** Reading this many entries takes 100 requests, a sixth of the limit of a session per minute, and some megabytes. */
export const MAX_EXPORTED_ENTRIES = 50_000;

/** Reads the entries that match a filter, newest first, at most {@link MAX_EXPORTED_ENTRIES}. */
export async function readAuditLog(filter: AuditFilterState): Promise<readonly AuditLogEntry[]> {
  const all: AuditLogEntry[] = [];
  while (all.length < MAX_EXPORTED_ENTRIES) {
    const { entries } = await loadAuditEntryPage(filter, { after: all.at(-1)?.id, limit: MAX_PAGE_SIZE });
    all.push(...entries);
    if (entries.length < MAX_PAGE_SIZE) break;
  }
  return all;
}
