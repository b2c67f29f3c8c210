import { toMoment } from '../shell/times.js';
import type { AuditLogEntry } from './objects.js';

/** Entries of the audit log, as they come. */
export function AuditTable({ entries }: { readonly entries: readonly AuditLogEntry[] }) {
  if (entries.length === 0) return <p>Nothing was.</p>;
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
              <td>
                {entry.object_id || `${entry.subject_type ?? ''} ${entry.subject_id ?? ''}`}
                {entry.previous_slug !== undefined && ` (was ${entry.previous_slug})`}
              </td>
              <td>{entry.actor_type === undefined ? 'nobody known' : `${entry.actor_type} ${entry.actor_id ?? ''}`}</td>
              <td>{entry.caller}</td>
              <td>{entry.ip}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
