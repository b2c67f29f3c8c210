import '../style/cards.css';
import './admin.css';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { Select } from '../ui/form.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';

const PAGE_SIZE = 50;

export function RequestLogSection() {
  const [filter, setFilter] = useState(NO_REQUEST_FILTER);
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">Requests to code hosts</h2>
      <p class="quiet">The last 10,000 requests that this server sent for any of its users, newest first.</p>
      <RequestFilters filter={filter} onFilter={setFilter} />
      <Pages filter={filter} />
      <p>
        <a href={`/api/admin/requests/export?${new URLSearchParams(toRequestQuery(filter)).toString()}`} download>
          Download as CSV
        </a>
      </p>
    </section>
  );
}

function Pages({ filter }: { readonly filter: RequestFilter }) {
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(0), [filter]);
  const load = useCallback(async () => {
    const query = { ...toRequestQuery(filter), limit: PAGE_SIZE, offset };
    const result = await dashboardClient.GET('/api/admin/requests', { params: { query } });
    const entries = requireData(result);
    return { entries, offset, total: Number(result.response.headers.get('X-Total-Count')) };
  }, [filter, offset]);
  const page = useResource(load);
  const showNewest = (): void => {
    if (offset === 0) void page.reload();
    else setOffset(0);
  };
  return (
    <AsyncContent from={page}>
      {({ entries, offset: from, total }) => (
        <>
          <div class="pages">
            <p class="quiet" role="status">
              {total === 0 ? 'No requests.' : `${from + 1} to ${from + entries.length} of ${total}`}
            </p>
            <button type="button" onClick={showNewest}>
              Newest
            </button>
            <Step name="Newer" to={from - PAGE_SIZE} isThere={from > 0} onStep={setOffset} />
            <Step name="Older" to={from + PAGE_SIZE} isThere={from + entries.length < total} onStep={setOffset} />
          </div>
          {entries.length > 0 && <RequestTable entries={entries} />}
        </>
      )}
    </AsyncContent>
  );
}

interface StepProps {
  readonly name: string;
  readonly to: number;
  readonly isThere: boolean;
  readonly onStep: (offset: number) => void;
}

/** A button that is not removed on the last page, so that it does not lose the focus. */
export function Step({ name, to, isThere, onStep }: StepProps) {
  const step = (): void => {
    if (isThere) onStep(Math.max(to, 0));
  };
  return (
    <button type="button" aria-disabled={!isThere} onClick={step}>
      {name}
    </button>
  );
}

type ForgeName = components['schemas']['ForgeName'];

interface RequestFilter {
  readonly forge: ForgeName | '';
  readonly account: string;
}

const NO_REQUEST_FILTER: RequestFilter = { forge: '', account: '' };

const FORGE_OPTIONS: readonly (readonly [ForgeName, string])[] = [
  ['github', 'GitHub'],
  ['forgejo', 'Forgejo or Gitea'],
  ['gitlab', 'GitLab'],
];

/** The pause in typing after which the list is loaded. */
const TYPING_PAUSE_MS = 400;

interface RequestFiltersProps {
  readonly filter: RequestFilter;
  readonly onFilter: (filter: RequestFilter) => void;
}

function RequestFilters({ filter, onFilter }: RequestFiltersProps) {
  const [account, setAccount] = useState(filter.account);
  useEffect(() => {
    const typed = account.trim();
    if (typed === filter.account) return;
    const timer = setTimeout(() => onFilter({ ...filter, account: typed }), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [account, filter]);
  return (
    <form role="search" aria-label="Filter requests" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <Select
          label="Code host"
          value={filter.forge}
          options={[['', 'All'], ...FORGE_OPTIONS]}
          onValue={(forge) => onFilter({ ...filter, forge })}
        />
        <label>
          Account
          <input
            type="search"
            maxLength={64}
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={account}
            onInput={({ currentTarget }) => setAccount(currentTarget.value)}
          />
        </label>
      </div>
    </form>
  );
}

/** Converts the filter to query parameters. */
const toRequestQuery = ({ forge, account }: RequestFilter) => ({
  ...(forge !== '' && { forge }),
  ...(account !== '' && { account }),
});

type Entry = components['schemas']['RequestLogEntry'];

const NAMES = ['Time', 'Code host', 'Account', 'Request', 'Result', 'Quota left'] as const;

const OUTCOMES: Readonly<Record<Entry['outcome'], string>> = {
  success: 'Success',
  unreachable: 'No response',
  unauthorized: 'Credential rejected',
  not_found: 'Not found',
  rate_limited: 'Rate limited',
  conflict: 'Conflict',
  address_refused: 'Address not allowed',
  unknown: 'Unexpected response',
};

const FORGE_TITLES = Object.fromEntries(FORGE_OPTIONS) as Readonly<Record<Entry['forge'], string>>;

function RequestTable({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <table class="cards requests">
      <TableHead names={NAMES} />
      <tbody>
        {entries.map((entry, index) => (
          <Row key={index} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

/** Each cell carries the name of its column, as narrow pages show rows as cards. */
function Row({ entry: { loggedAt, forge, account, method, endpoint, outcome, statusCode, rateLimit } }: EntryProps) {
  return (
    <tr>
      <td data-name={NAMES[0]}>{formatDateTime(loggedAt)}</td>
      <td data-name={NAMES[1]}>{FORGE_TITLES[forge]}</td>
      <td data-name={NAMES[2]}>{account}</td>
      <td data-name={NAMES[3]}>
        <code>
          {method} {endpoint}
        </code>
      </td>
      <td data-name={NAMES[4]} class={outcome === 'success' ? 'good' : 'bad'}>
        {OUTCOMES[outcome]}
        {statusCode !== undefined && ` (${statusCode})`}
      </td>
      <td data-name={NAMES[5]}>{rateLimit && `${rateLimit.remaining} of ${rateLimit.limit}`}</td>
    </tr>
  );
}

interface EntryProps {
  readonly entry: Entry;
}
