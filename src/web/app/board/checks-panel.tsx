import { useCallback } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { formatDuration } from '../ui/countdown.js';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { toTarget } from './rows.js';
import type { PullRequest } from './rows.js';

type Check = components['schemas']['Check'];

const STATES: Readonly<Record<Check['state'], string>> = {
  queued: 'Queued',
  running: 'Running',
  success: 'Passed',
  failure: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
  timed_out: 'Timed out',
};

/** The checks of the newest commit, loaded from the forge when the panel opens. */
export function ChecksPanel({ row }: { readonly row: PullRequest }) {
  const load = useCallback(async () => {
    const query = toTarget(row);
    return requireData(await dashboardClient.GET('/api/pull-requests/checks', { params: { query } })).checks;
  }, [row.forge, row.repo, row.number, row.headSha]);
  const checks = useResource(load);
  return (
    <AsyncContent from={checks}>
      {(list) =>
        list.length === 0 ? (
          <p>No checks have reported yet.</p>
        ) : (
          <ul>
            {list.map((check, index) => (
              // Names of checks are not unique.
              <li key={`${check.name} ${index}`}>
                <span class={`state ${check.state}`}>{STATES[check.state]}</span> <CheckName check={check} />
                {check.required && <span class="quiet"> · required</span>}
                {check.durationSeconds !== undefined && (
                  <span class="quiet"> · {formatDuration(check.durationSeconds)}</span>
                )}
                {check.failedStep !== undefined && <span> · failed at “{check.failedStep}”</span>}
                {check.excerpt !== undefined && (
                  <pre tabIndex={0} role="region" aria-label={`End of the log of ${check.name}`}>
                    {check.excerpt}
                  </pre>
                )}
              </li>
            ))}
          </ul>
        )
      }
    </AsyncContent>
  );
}

function CheckName({ check: { name, url } }: { readonly check: Check }) {
  // The URL comes from the forge and may have any scheme.
  if (!/^https?:/.test(url)) return <>{name}</>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
}
