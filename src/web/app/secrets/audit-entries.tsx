import '../style/cards.css';
import type { components } from '../../../generated/secrets/client.js';
import { requireData } from '../api.js';
import { parseAddressState, type Query } from '../ui/address.js';
import { Select } from '../ui/form.js';
import { TableHead } from '../ui/headings.js';
import { formatDateTime, shiftDay, toMoment } from '../ui/times.js';
import { type AuditLogEntry, toFilterOptions } from './metadata.js';
import { secretsClient } from './secrets.js';

/** A table of audit log entries in the given order. On phones each entry is a card. */
export function AuditTable({ entries }: { readonly entries: readonly AuditLogEntry[] }) {
  if (entries.length === 0) return <p>No matching entries.</p>;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Audit log entries">
      <table class="cards audit">
        <TableHead names={COLUMNS.map(({ name }) => name)} />
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              {COLUMNS.map(({ name, show }) => (
                <td key={name} data-name={name}>
                  {show(entry)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const SUBJECT_NAMES: Readonly<Record<NonNullable<AuditLogEntry['subject_type']>, string>> = {
  object: 'secret',
  consumer: 'consumer',
  token: 'write token',
  consumer_token: 'consumer token',
  passkey: 'passkey',
  identity: 'owner key',
  request: 'request',
  workload_rule: 'workload rule',
};

const COLUMNS: readonly { readonly name: string; readonly show: (entry: AuditLogEntry) => string }[] = [
  { name: 'Time', show: ({ timestamp }) => formatDateTime(timestamp) },
  {
    name: 'Action',
    show: ({ action, version }) =>
      join(ACTION_NAMES[action] ?? action, version === undefined ? undefined : `version ${version}`),
  },
  { name: 'Subject', show: describeSubject },
  { name: 'Actor', show: ({ actor_type, actor_id }) => formatActor(actor_type, actor_id) },
  { name: 'Caller', show: ({ caller = '' }) => caller },
  { name: 'IP address', show: ({ ip }) => ip },
];

/** Labels of the actions whose code has more than one word. */
const ACTION_NAMES: Partial<Record<AuditLogEntry['action'], string>> = { rotation_due: 'due for rotation' };

function describeSubject(entry: AuditLogEntry): string {
  const {
    object_id: slug,
    subject_type: type = 'object',
    subject_id: id,
    previous_slug: previous,
    key,
    previous_key: previousKey,
    signer,
  } = entry;
  if (type === 'request') return describeDenied(entry);
  const name = slug === '' ? `${SUBJECT_NAMES[type]} ${id ?? ''}` : slug;
  const keys = key && (previousKey ? `key ${previousKey} replaced by ${key}` : `key ${key}`);
  const named = join(join(name, previous && `was ${previous}`), keys);
  return join(join(named, signer && `signed by ${signer}`), describeRequester(entry));
}

/** Names the device that requested a token, or the workload whose token was exchanged. */
function describeRequester(entry: AuditLogEntry): string | undefined {
  const { rule, token_issuer: issuer, token_subject: subject, device, device_ip: address } = entry;
  if (address !== undefined) return device === undefined ? `device at ${address}` : `${device} at ${address}`;
  if (issuer === undefined) return undefined;
  return `${rule === undefined ? '' : `rule ${rule}, `}${subject === undefined ? '' : `${subject} of `}${issuer}`;
}

function describeDenied(entry: AuditLogEntry): string {
  const { subject_id: operation = '', reason = '', count = 1, names = [] } = entry;
  const times = count === 1 ? operation : `${operation}, ${count} times`;
  const denied = join(names.length === 0 ? times : `${times}: ${names.join(', ')}`, REASONS[reason] ?? reason);
  return join(denied, describeRequester(entry));
}

/** The causes of denied requests by their error code. */
const REASONS: Readonly<Record<string, string>> = {
  unauthenticated: 'invalid credential',
  forbidden: 'not permitted',
  access_denied: 'denied by the owner',
  session_required: 'requires a session',
  cross_site: 'from another site',
  not_found: 'unknown secret, or one of others',
  invalid_input: 'invalid token',
  conflict: 'several rules accept it',
  unavailable: 'the issuer does not respond',
  other: 'several reasons',
};

const join = (text: string, note: string | undefined): string => (note === undefined ? text : `${text} (${note})`);

type Actor = components['schemas']['Actor'];

/** Returns the display name of an actor. Every session belongs to the owner, so its id is not shown. */
export function formatActor(type: Actor['type'] | undefined, id = ''): string {
  if (type === undefined) return 'unknown';
  if (type === 'session') return 'owner';
  if (type === 'machine') return 'server command line';
  return `${type === 'token' ? 'write token' : 'consumer token'} ${id}`;
}

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
        <Select
          label="Subject"
          value={filter.subject}
          options={SUBJECT_OPTIONS}
          onValue={(subject) => change({ subject })}
        />
        <Select
          label="Secret"
          value={filter.objectId}
          options={toFilterOptions(object_ids, filter.objectId)}
          onValue={(objectId) => change({ objectId })}
        />
        <Select
          label="Actor"
          value={filter.actor}
          options={toActorOptions(actors, filter.actor)}
          onValue={(actor) => change({ actor })}
        />
        <Select
          label="Caller"
          value={filter.caller}
          options={toFilterOptions(callers, filter.caller)}
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

/** Reads the filter of a query string. Subjects that this release does not know, and invalid days, are left out. */
export function readAuditFilter(query: Query): AuditFilterState | undefined {
  const found = parseAddressState(query, NO_AUDIT_FILTER);
  if (found === undefined) return undefined;
  const subject = SUBJECT_OPTIONS.some(([one]) => one === found.subject) ? found.subject : '';
  const [from, to] = [found.from, found.to].map((day) => (isDay(day) ? day : ''));
  return { ...found, subject, from: from ?? '', to: to ?? '' };
}

/** Returns the options of the actors. The chosen one stays an option if no entry has it. */
const toActorOptions = (actors: AuditFiltersProps['offered']['actors'], chosen: string) => {
  const others =
    chosen === '' || actors.some(({ value }) => value === chosen) ? [] : [{ value: chosen, label: chosen }];
  return [
    ['', 'All'],
    ...[...actors, ...others].map(({ value, label }) => [value, nameActor(value, label)] as const),
  ] as const;
};

const SUBJECT_OPTIONS = [
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

const isDay = (day: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(day) && day <= LAST_DAY && !Number.isNaN(Date.parse(day));

export interface AuditEntryPage {
  readonly filter: AuditFilterState;
  /** Newest first. */
  readonly entries: readonly AuditLogEntry[];
  /** The number of matching entries on all pages, which may be too low in a large log. */
  readonly count: number;
  readonly hasOlder: boolean;
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
  const { headers } = result.response;
  return { filter, entries, count: Number(headers.get('X-Total-Count')), hasOlder: headers.has('Link') };
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
