import { toMoment } from '../shell/times.js';
import type { AuditLogEntry } from './objects.js';

/** Entries of the audit log, as they come. */
export function AuditTable({ entries }: { readonly entries: readonly AuditLogEntry[] }) {
  if (entries.length === 0) return <p>No entry fits.</p>;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Entries of the audit log">
      <table>
        <thead>
          <tr>
            {['When', 'What', 'Of', 'By', 'Caller', 'From'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>{toMoment(entry.timestamp)}</td>
              <td>
                {entry.action}
                {entry.version !== undefined && ` (version ${entry.version})`}
              </td>
              <td class="subject">
                {entry.object_id || `${SUBJECTS[entry.subject_type ?? 'object']} ${entry.subject_id ?? ''}`}
                {entry.previous_slug !== undefined && ` (was ${entry.previous_slug})`}
              </td>
              <td>{describeActor(entry)}</td>
              <td>{entry.caller}</td>
              <td>{entry.ip}</td>
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

/** Sessions are the owner's, all of them; of a token, the id tells which. */
function describeActor({ actor_type: type, actor_id: id = '' }: AuditLogEntry): string {
  if (type === undefined) return 'nobody known';
  if (type === 'session') return 'owner';
  if (type === 'machine') return 'the server’s machine';
  return `${type === 'token' ? 'write token' : 'consumer token'} ${id}`;
}
