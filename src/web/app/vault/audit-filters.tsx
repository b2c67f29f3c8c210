import type { components } from '../../../generated/secrets/client.js';
import { Select } from '../shell/select.js';
import type { AuditLogEntry } from './objects.js';

export interface AuditFilter {
  readonly objectId: string;
  readonly subject: NonNullable<AuditLogEntry['subject_type']> | '';
  readonly actor: string;
  readonly caller: string;
  /** Days, as the browser's own field gives them, in its time zone. */
  readonly from: string;
  readonly to: string;
}

export const NO_FILTER: AuditFilter = { objectId: '', subject: '', actor: '', caller: '', from: '', to: '' };

interface AuditFiltersProps {
  readonly offered: components['schemas']['AuditLogFilterOptions'];
  readonly filter: AuditFilter;
  readonly onFilter: (filter: AuditFilter) => void;
}

/** What the log can be asked for, with the names that are in it. */
export function AuditFilters({ offered, filter, onFilter }: AuditFiltersProps) {
  const { object_ids, actors, callers } = offered;
  const change = (part: Partial<AuditFilter>): void => onFilter({ ...filter, ...part });
  return (
    <form role="search" aria-label="Filter the audit log" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <Select label="About" value={filter.subject} options={ABOUT} onValue={(subject) => change({ subject })} />
        <Select
          label="Secret"
          value={filter.objectId}
          options={offer(object_ids)}
          onValue={(objectId) => change({ objectId })}
        />
        <Select
          label="By"
          value={filter.actor}
          options={[['', 'All'], ...actors.map(({ value, label }) => [value, nameActor(value, label)] as const)]}
          onValue={(actor) => change({ actor })}
        />
        <Select
          label="Caller"
          value={filter.caller}
          options={offer(callers)}
          onValue={(caller) => change({ caller })}
        />
        <Day label="From" value={filter.from} onValue={(from) => change({ from })} />
        <Day label="To" value={filter.to} onValue={(to) => change({ to })} />
        <button type="button" aria-disabled={filter === NO_FILTER} onClick={() => onFilter(NO_FILTER)}>
          Clear
        </button>
      </div>
    </form>
  );
}

const offer = (names: readonly string[]) => [['', 'All'], ...names.map((name) => [name, name] as const)] as const;

const ABOUT = [
  ['', 'All'],
  ['object', 'secrets'],
  ['consumer', 'consumers'],
  ['token', 'write tokens'],
  ['consumer_token', 'consumer tokens'],
  ['passkey', 'passkeys'],
  ['identity', 'the identity'],
] as const;

/** Tokens are labelled by the service; what is none has a name of its own there. */
const nameActor = (value: string, label: string): string =>
  ({ admin: 'owner', machine: 'the server’s machine', none: 'nobody known' })[value] ??
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

/** As the service takes them. */
export function toQuery({ objectId, subject, actor, caller, from, to }: AuditFilter) {
  return {
    ...(objectId !== '' && { object_id: objectId }),
    ...(subject !== '' && { subject_type: subject }),
    ...(actor !== '' && { actor }),
    ...(caller !== '' && { caller }),
    ...(from !== '' && { from: new Date(`${from}T00:00`).toISOString() }),
    ...(to !== '' && { to: endOf(to).toISOString() }),
  };
}

/** The moment before which a day is. */
function endOf(day: string): Date {
  const end = new Date(`${day}T00:00`);
  end.setDate(end.getDate() + 1);
  return end;
}
