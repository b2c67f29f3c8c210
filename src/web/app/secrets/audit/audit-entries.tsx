import type { components } from '../../../../generated/secrets/client.js';
import { requireData } from '../../api.js';
import { parseAddressState, type Query } from '../../ui/address.js';
import { Select } from '../../ui/form.js';
import { shiftDay, toMoment } from '../../ui/times.js';
import type { AuditLogEntry } from '../metadata.js';
import { secretsClient } from '../secrets.js';

export interface AuditFilterState {
  readonly objectId: string;
  readonly subject: NonNullable<AuditLogEntry['subject_type']> | '';
  readonly actor: string;
  readonly caller: string;
  /** The first day, `YYYY-MM-DD` in the time zone of the user; empty for no limit. */
  readonly from: string;
  /** The last day, in the same form. */
  readonly to: string;
}

export const NO_AUDIT_FILTER: AuditFilterState = { objectId: '', subject: '', actor: '', caller: '', from: '', to: '' };

interface AuditFiltersProps {
  readonly offered: components['schemas']['AuditLogFilterOptions'];
  readonly filter: AuditFilterState;
  readonly onFilter: (filter: AuditFilterState) => unknown;
}

/** The filters of the audit log. They offer only values that occur in the log. */
export function AuditFilters({ offered, filter, onFilter }: AuditFiltersProps) {
  const { object_ids, actors, callers } = offered;
  const isAll = Object.values(filter).every((value) => value === '');
  const change = (part: Partial<AuditFilterState>): void => void onFilter({ ...filter, ...part });
  return (
    <form role="search" aria-label="Filter the audit log" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <Select label="Subject" value={filter.subject} options={SUBJECTS} onValue={(subject) => change({ subject })} />
        <Select
          label="Secret"
          value={filter.objectId}
          options={toOptions(object_ids)}
          onValue={(objectId) => change({ objectId })}
        />
        <Select
          label="Actor"
          value={filter.actor}
          options={[['', 'All'], ...actors.map(({ value, label }) => [value, nameActor(value, label)] as const)]}
          onValue={(actor) => change({ actor })}
        />
        <Select
          label="Caller"
          value={filter.caller}
          options={toOptions(callers)}
          onValue={(caller) => change({ caller })}
        />
        <Day label="From" value={filter.from} onValue={(from) => change({ from })} />
        <Day label="To" value={filter.to} onValue={(to) => change({ to })} />
        <button type="button" aria-disabled={isAll} onClick={() => onFilter(NO_AUDIT_FILTER)}>
          Clear
        </button>
      </div>
    </form>
  );
}

/** Reads the filter of a query string. A subject that this release does not know is replaced by the default. */
export function readAuditFilter(query: Query): AuditFilterState | undefined {
  const found = parseAddressState(query, NO_AUDIT_FILTER);
  return found && { ...found, subject: SUBJECTS.some(([one]) => one === found.subject) ? found.subject : '' };
}

const toOptions = (names: readonly string[]) => [['', 'All'], ...names.map((name) => [name, name] as const)] as const;

const SUBJECTS = [
  ['', 'All'],
  ['object', 'Secrets'],
  ['consumer', 'Consumers'],
  ['token', 'Write tokens'],
  ['consumer_token', 'Consumer tokens'],
  ['passkey', 'Passkeys'],
  ['identity', 'Owner key'],
  ['request', 'Denied requests'],
  ['workload_rule', 'Workload rules'],
] as const;

/** The service labels only tokens; the other actors get a name here. */
const nameActor = (value: string, label: string): string =>
  ({ admin: 'owner', machine: 'server command line', none: 'unknown' })[value] ??
  label.replace('_', ' ').replace(':', ' ');

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function Day({ label, value, onValue }: DayProps) {
  return (
    <label>
      {label}
      <input type="date" max={LAST_DAY} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)} />
    </label>
  );
}

/** Converts a filter to the query parameters of the audit log. */
function toAuditLogQuery({ objectId, subject, actor, caller, from, to }: AuditFilterState) {
  return {
    ...(objectId !== '' && { object_id: objectId }),
    ...(subject !== '' && { subject_type: subject }),
    ...(actor !== '' && { actor }),
    ...(caller !== '' && { caller }),
    ...(isDay(from) && { from: toMoment(from, '00:00').toISOString() }),
    // The service excludes the end of a range.
    ...(isDay(to) && { to: toMoment(shiftDay(to, 1), '00:00').toISOString() }),
  };
}

/** Browsers accept years up to 275760, which have no RFC 3339 form. */
const LAST_DAY = '9998-12-31';

const isDay = (day: string): boolean => day !== '' && day.length === LAST_DAY.length && day <= LAST_DAY;

export interface AuditEntryPage {
  readonly filter: AuditFilterState;
  /** Newest first. */
  readonly entries: readonly AuditLogEntry[];
  /** The number of matching entries on all pages. */
  readonly count: number;
}

interface PageOptions {
  /** The id of the last entry of the previous page; starts with the newest entry when omitted. */
  readonly after?: number;
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
