import { type Caller, requireUser, type UserCaller } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import {
  addDays,
  listUnitStarts,
  readTimezone,
  startOfUnit,
  type ThroughputUnit,
  toDayInZone,
} from './daily-counts.js';

type ThroughputBody = components['schemas']['Throughput'];

export interface ThroughputRequest {
  /** The username of an owner who shares their board; by default the caller. */
  readonly owner?: string;
  /** The number of days, today included. */
  readonly days: number;
  readonly per: ThroughputUnit;
}

/** Counts of opened and closed pull requests over time. */
export interface Throughput {
  /** @throws AppError `not_found` for an unknown owner, `forbidden` if the owner doesn't share the board. */
  read(caller: Caller | undefined, request: ThroughputRequest): Promise<ThroughputBody>;
}

export interface ThroughputOptions {
  readonly database: Database;
  /** Returns the id of the owner whose board the caller may read. Throws for any other. */
  readonly getOwnerId: (caller: UserCaller, username?: string) => Promise<string>;
  readonly now?: () => number;
}

export function createThroughput({ database, getOwnerId, now = Date.now }: ThroughputOptions): Throughput {
  return {
    async read(caller, { owner, days, per }) {
      const ownerId = await getOwnerId(requireUser(caller), owner);
      const timezone = await readTimezone(database, ownerId);
      const since = await findFirstDay(database, ownerId);
      if (since === undefined) return { timezone, per, periods: [] };
      const today = toDayInZone(now(), timezone);
      const first = addDays(today, 1 - days);
      // The first counted day can lie in the future, if the time zone has changed since.
      const from = first > since || since > today ? first : since;
      return { timezone, since, per, periods: await readPeriods(database, ownerId, { from, to: today, per }) };
    },
  };
}

/** Ignores days without a board: pull requests that a later refresh found may have been opened on them. */
async function findFirstDay(database: Database, personId: string): Promise<string | undefined> {
  const days = database.selectFrom('throughput_days').select('day').where('person_id', '=', personId);
  return (await days.where('open_count', 'is not', null).orderBy('day').limit(1).executeTakeFirst())?.day;
}

interface Span {
  readonly from: string;
  readonly to: string;
  readonly per: ThroughputUnit;
}

async function readPeriods(database: Database, personId: string, span: Span): Promise<ThroughputBody['periods']> {
  const { to, per } = span;
  const starts = listUnitStarts(span, per);
  const periods = new Map<string, Period>(starts.map((start) => [start, { start, opened: 0, left: 0 }]));
  const days = database.selectFrom('throughput_days').selectAll().where('person_id', '=', personId);
  const from = startOfUnit(span.from, per);
  for (const row of await days.where('day', '>=', from).where('day', '<=', to).orderBy('day').execute()) {
    const period = periods.get(startOfUnit(row.day, per));
    if (period === undefined) continue;
    period.opened += row.opened_count;
    period.left += row.left_count;
    if (row.open_count !== null) period.open = row.open_count;
  }
  return [...periods.values()];
}

interface Period {
  readonly start: string;
  opened: number;
  left: number;
  open?: number;
}
