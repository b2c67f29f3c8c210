import { useCallback } from 'preact/hooks';
import type { components } from '../../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../../api.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { formatDuration } from '../../ui/time-elements.js';
import { type PullRequest, toTarget } from '../data/rows.js';
import { ForgeLink } from './forge-link.js';

type Check = components['schemas']['Check'];

const STATES: Readonly<Record<Check['state'], string>> = {
  failure: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Cancelled',
  running: 'Running',
  queued: 'Queued',
  success: 'Passed',
  skipped: 'Skipped',
};

const ORDER = Object.keys(STATES);

/** The checks of the newest commit with the logs of failures, which come first. */
export function Checks({ row }: { readonly row: PullRequest }) {
  const load = useCallback(async () => {
    const query = toTarget(row);
    const { checks } = requireData(await dashboardClient.GET('/api/pull-requests/checks', { params: { query } }));
    return checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  }, [row.forge, row.repo, row.number, row.headSha, row.ci]);
  const checks = useResource(load);
  return (
    <section class="checks" aria-labelledby="panel-checks">
      <h3 id="panel-checks">Checks {checks.value !== undefined && <Passed checks={checks.value} />}</h3>
      <AsyncContent from={checks}>
        {(list) =>
          list.length === 0 ? (
            <p class="quiet">No checks have reported yet.</p>
          ) : (
            <ul>
              {list.map((check, index) => (
                // Names of checks are not unique.
                <CheckItem key={`${check.name} ${index}`} check={check} />
              ))}
            </ul>
          )
        }
      </AsyncContent>
    </section>
  );
}

const Passed = ({ checks }: { readonly checks: readonly Check[] }) =>
  checks.length === 0 ? null : (
    <span class="quiet">
      {checks.filter(({ state }) => state === 'success' || state === 'skipped').length} of {checks.length} passed
    </span>
  );

function CheckItem({ check }: { readonly check: Check }) {
  const { name, url, state, required, durationSeconds, failedStep, excerpt } = check;
  return (
    <li>
      <span class={`state ${state}`}>{STATES[state]}</span> <ForgeLink url={url}>{name}</ForgeLink>
      {required && <span class="quiet"> · required</span>}
      {durationSeconds !== undefined && <span class="quiet"> · {formatDuration(durationSeconds)}</span>}
      {failedStep !== undefined && <span> · failed at “{failedStep}”</span>}
      {excerpt !== undefined && (
        <pre tabIndex={0} role="region" aria-label={`End of the log of ${name}`}>
          {excerpt}
        </pre>
      )}
    </li>
  );
}
