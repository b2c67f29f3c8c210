import '../../style/cards.css';
import type { components } from '../../../../generated/secrets/client.js';
import { TableHead } from '../../ui/headings.js';
import { formatDateTime } from '../../ui/times.js';
import type { AuditLogEntry } from '../metadata.js';

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

const SUBJECTS: Readonly<Record<NonNullable<AuditLogEntry['subject_type']>, string>> = {
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
      join(ACTIONS[action] ?? action, version === undefined ? undefined : `version ${version}`),
  },
  { name: 'Subject', show: describeSubject },
  { name: 'Actor', show: ({ actor_type, actor_id }) => formatActor(actor_type, actor_id) },
  { name: 'Caller', show: ({ caller = '' }) => caller },
  { name: 'IP address', show: ({ ip }) => ip },
];

/** Labels of the actions whose code has more than one word. */
const ACTIONS: Partial<Record<AuditLogEntry['action'], string>> = { rotation_due: 'due for rotation' };

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
  const name = slug === '' ? `${SUBJECTS[type]} ${id ?? ''}` : slug;
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
