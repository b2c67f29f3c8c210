import { useCallback, useEffect, useState } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { NO_REQUEST_FILTER, RequestFilters, toRequestQuery } from './request-filters.js';
import type { RequestFilter } from './request-filters.js';
import { RequestTable } from './request-table.js';
import './admin.css';

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
function Step({ name, to, isThere, onStep }: StepProps) {
  const step = (): void => {
    if (isThere) onStep(Math.max(to, 0));
  };
  return (
    <button type="button" aria-disabled={!isThere} onClick={step}>
      {name}
    </button>
  );
}
