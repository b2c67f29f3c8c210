import { TableHead } from '../shell/table-head.js';
import { toMoment } from '../shell/times.js';
import { nameActor } from './actors.js';
import type { AuditLogEntry } from './objects.js';
import '../style/cards.css';

/** Entries of the audit log, as they come; on a phone each is a card. */
export function AuditTable({ entries }: { readonly entries: readonly AuditLogEntry[] }) {
  if (entries.length === 0) return <p>No entry fits.</p>;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Entries of the audit log">
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

const SUBJECTS: Readonly<Record<NonNullable<AuditLogEntry['subject_type']>, string>> = {
  object: 'secret',
  consumer: 'consumer',
  token: 'write token',
  consumer_token: 'consumer token',
  passkey: 'passkey',
  identity: 'identity',
};

const COLUMNS: readonly { readonly name: string; readonly show: (entry: AuditLogEntry) => string }[] = [
  { name: 'When', show: ({ timestamp }) => toMoment(timestamp) },
  {
    name: 'What',
    show: ({ action, version }) =>
      join(ACTIONS[action] ?? action, version === undefined ? undefined : `version ${version}`),
  },
  { name: 'Of', show: describeSubject },
  { name: 'By', show: ({ actor_type, actor_id }) => nameActor(actor_type, actor_id) },
  { name: 'Caller', show: ({ caller = '' }) => caller },
  { name: 'From', show: ({ ip }) => ip },
];

/** Those that read as more than one word. */
const ACTIONS: Partial<Record<AuditLogEntry['action'], string>> = { rotation_due: 'due for rotation' };

function describeSubject({
  object_id: slug,
  subject_type: type = 'object',
  subject_id: id,
  previous_slug: previous,
}: AuditLogEntry): string {
  const name = slug === '' ? `${SUBJECTS[type]} ${id ?? ''}` : slug;
  return join(name, previous && `was ${previous}`);
}

const join = (text: string, aside: string | undefined): string => (aside === undefined ? text : `${text} (${aside})`);
