import type { components } from '../../../generated/secrets/client.js';
import { Select } from '../ui/select.js';
import type { AuditLogEntry } from './secrets.js';

export interface AuditFilterState {
  readonly objectId: string;
  readonly subject: NonNullable<AuditLogEntry['subject_type']> | '';
  readonly actor: string;
  readonly caller: string;
  /** The first day, `YYYY-MM-DD` in the browser's time zone; empty for no limit. */
  readonly from: string;
  /** The last day, in the same form. */
  readonly to: string;
}

export const NO_AUDIT_FILTER: AuditFilterState = { objectId: '', subject: '', actor: '', caller: '', from: '', to: '' };

interface AuditFiltersProps {
  readonly offered: components['schemas']['AuditLogFilterOptions'];
  readonly filter: AuditFilterState;
  readonly onFilter: (filter: AuditFilterState) => void;
}

/** The filters of the audit log. They offer only values that occur in the log. */
export function AuditFilters({ offered, filter, onFilter }: AuditFiltersProps) {
  const { object_ids, actors, callers } = offered;
  const change = (part: Partial<AuditFilterState>): void => onFilter({ ...filter, ...part });
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
        <button type="button" aria-disabled={filter === NO_AUDIT_FILTER} onClick={() => onFilter(NO_AUDIT_FILTER)}>
          Clear
        </button>
      </div>
    </form>
  );
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
      <input type="date" value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)} />
    </label>
  );
}

/** Converts a filter to the query parameters of the audit log. */
export function toAuditLogQuery({ objectId, subject, actor, caller, from, to }: AuditFilterState) {
  return {
    ...(objectId !== '' && { object_id: objectId }),
    ...(subject !== '' && { subject_type: subject }),
    ...(actor !== '' && { actor }),
    ...(caller !== '' && { caller }),
    ...(from !== '' && { from: new Date(`${from}T00:00`).toISOString() }),
    ...(to !== '' && { to: endOf(to).toISOString() }),
  };
}

/** Returns the start of the following day, as the service excludes the end of a range. */
function endOf(day: string): Date {
  const end = new Date(`${day}T00:00`);
  end.setDate(end.getDate() + 1);
  return end;
}
