import { useCallback, useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { Field } from '../shell/field.js';
import { Loaded } from '../shell/loaded.js';
import { TableHead } from '../shell/table-head.js';
import { toMoment } from '../shell/times.js';
import { useResource } from '../shell/use-resource.js';

type ForgeName = components['schemas']['ForgeName'];

const FORGES: readonly ForgeName[] = ['github', 'forgejo', 'gitlab'];

export function RequestLog() {
  const [forge, setForge] = useState<ForgeName | ''>('');
  const [account, setAccount] = useState('');
  const query = { ...(forge !== '' && { forge }), ...(account !== '' && { account }) };
  const load = useCallback(
    async () => requireAnswer(await dashboard.GET('/api/admin/requests', { params: { query } })),
    [forge, account],
  );
  const entries = useResource(load);
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">Requests to forges</h2>
      <div class="row">
        <div class="field">
          <label for="requests-forge">Forge</label>
          <select
            id="requests-forge"
            value={forge}
            onChange={({ currentTarget }) => setForge(FORGES.find((name) => name === currentTarget.value) ?? '')}
          >
            <option value="">All</option>
            {FORGES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <Field label="Account" maxLength={64} autoComplete="off" value={account} onValue={setAccount} />
      </div>
      <p>
        <a href={`/api/admin/requests/export?${new URLSearchParams(query).toString()}`} download>
          Download as CSV
        </a>
      </p>
      <Loaded from={entries}>
        {(list) => (
          <div class="wide" tabIndex={0} role="region" aria-label="Requests to forges">
            <table>
              <TableHead names={['When', 'Forge', 'Account', 'Request', 'Outcome', 'Budget left']} />
              <tbody>
                {list.map((entry) => (
                  <tr key={`${entry.loggedAt} ${entry.forge} ${entry.endpoint}`}>
                    <td>{toMoment(entry.loggedAt)}</td>
                    <td>{entry.forge}</td>
                    <td>{entry.account}</td>
                    <td>
                      {entry.method} <code>{entry.endpoint}</code>
                    </td>
                    <td class={entry.outcome === 'success' ? 'good' : 'bad'}>
                      {entry.outcome} {entry.statusCode}
                    </td>
                    <td>{entry.rateLimit && `${entry.rateLimit.remaining} of ${entry.rateLimit.limit}`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </section>
  );
}
