import { randomBytes } from 'node:crypto';
import { type Caller, requireAdminSession } from '../accounts/callers.js';
import type { components } from '../generated/dashboard/types.js';
import { type Database, inTransaction } from '../storage/database.js';
import type { RequestLogTable } from '../storage/tables.js';
import { type RateLimit, withSeverity } from './forges/forge.js';

export type LoggedRequest = components['schemas']['RequestLogEntry'];

/** About a week of requests of a few busy users, and about 3 MB. */
const MAX_ENTRIES = 10_000;

/** Entries above the limit are deleted after this many insertions. */
const PRUNE_AFTER = 100;

/** A request that was sent to a forge. The log adds the time. */
export interface NewRequestLogEntry extends Omit<LoggedRequest, 'loggedAt' | 'rateLimit'> {
  /** The remaining API quota according to the response. Its severity is computed when the log is read. */
  readonly rateLimit?: Omit<RateLimit, 'severity'>;
}

interface RequestLogFilter {
  readonly forge?: LoggedRequest['forge'];
  readonly account?: string;
}

interface RequestLogPage extends RequestLogFilter {
  readonly limit: number;
  readonly offset: number;
}

/** The log of requests to forges. Reading it requires an admin session (else `session_required` or `forbidden`). */
export interface RequestLog {
  /** Adds an entry. The log keeps about the newest 10,000. */
  record(request: NewRequestLogEntry): Promise<void>;
  /** Returns a page of matching entries, newest first, and the number of all matching entries. */
  list(caller: Caller | undefined, page: RequestLogPage): Promise<{ entries: LoggedRequest[]; total: number }>;
  /** Returns all matching entries, newest first, as CSV with a header row. */
  exportCsv(caller: Caller | undefined, filter: RequestLogFilter): Promise<string>;
}

export function createRequestLog(database: Database, now: () => number = Date.now): RequestLog {
  const nextId = createIds(now);
  let unpruned = 0;
  return {
    async record({ rateLimit, account, statusCode, ...request }) {
      const row = {
        id: nextId(),
        logged_at: now(),
        ...request,
        account: account ?? null,
        status_code: statusCode ?? null,
        budget: rateLimit === undefined ? null : JSON.stringify(rateLimit),
      };
      await database.insertInto('request_log').values(row).execute();
      unpruned = (unpruned + 1) % PRUNE_AFTER;
      if (unpruned === 0) await prune(database);
    },
    async list(caller, { limit, offset, ...filter }) {
      requireAdminSession(caller);
      return inTransaction(database, async (transaction) => {
        const matching = findMatching(transaction, filter);
        const { total } = await matching
          .select(({ fn }) => fn.countAll<number>().as('total'))
          .executeTakeFirstOrThrow();
        const rows = await matching.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
        return { entries: rows.map((row) => toEntry(row, now())), total };
      });
    },
    async exportCsv(caller, filter) {
      requireAdminSession(caller);
      const rows = await findMatching(database, filter).selectAll().orderBy('id', 'desc').execute();
      return formatRequestCsv(rows.map((row) => toEntry(row, now())));
    },
  };
}

function findMatching(database: Database, { forge, account }: RequestLogFilter) {
  const all = database.selectFrom('request_log');
  const ofForge = forge === undefined ? all : all.where('forge', '=', forge);
  return account === undefined ? ofForge : ofForge.where('account', '=', account);
}

async function prune(database: Database): Promise<void> {
  const kept = database.selectFrom('request_log').select('id').orderBy('id', 'desc').limit(1).offset(MAX_ENTRIES);
  await database.deleteFrom('request_log').where('id', '<=', kept).execute();
}

/**
 * Returns a generator of ids that sort by time, and within a process by order. They end in random digits, because other
 * processes write to the same table.
 */
function createIds(now: () => number): () => string {
  let count = 0;
  return () => {
    count = (count + 1) % 0x100_0000;
    // 12 and 6 hexadecimal digits suffice until the year 10889, and for 16 million entries per millisecond.
    const parts = [now().toString(16).padStart(12, '0'), count.toString(16).padStart(6, '0')];
    return parts.join('') + randomBytes(4).toString('hex');
  };
}

function toEntry(row: RequestLogTable, at: number): LoggedRequest {
  const { logged_at, forge, method, endpoint, outcome, account, status_code, budget } = row;
  return {
    loggedAt: new Date(logged_at).toISOString(),
    // The casts are safe: only values of the contract are recorded.
    forge: forge as LoggedRequest['forge'],
    method,
    endpoint,
    outcome: outcome as LoggedRequest['outcome'],
    ...(account === null ? {} : { account }),
    ...(status_code === null ? {} : { statusCode: status_code }),
    ...(budget === null ? {} : { rateLimit: withSeverity(JSON.parse(budget) as RateLimit, at) }),
  };
}

const COLUMNS = [
  'loggedAt',
  'forge',
  'method',
  'endpoint',
  'outcome',
  'account',
  'statusCode',
  'rateLimit',
  'rateRemaining',
  'rateResetsAt',
  'rateCost',
];

/**
 * Formats entries as CSV (RFC 4180) with a header row. Values that a spreadsheet would run as formulas get a leading
 * apostrophe.
 */
export async function formatRequestCsv(entries: readonly LoggedRequest[]): Promise<string> {
  const { stringify } = await import('./csv.js');
  const rows = entries.map(({ rateLimit: quota, ...entry }) => ({
    ...entry,
    rateLimit: quota?.limit,
    rateRemaining: quota?.remaining,
    rateResetsAt: quota?.resetsAt,
    rateCost: quota?.cost,
  }));
  return stringify(rows, {
    header: true,
    columns: COLUMNS,
    record_delimiter: 'windows',
    escape_formulas: true,
    // By default, only values that contain the record delimiter are quoted, not those with a lone CR or LF.
    quoted_match: /[\r\n]/,
  });
}
