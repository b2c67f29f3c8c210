import { useCallback, useEffect, useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { secrets } from '../clients.js';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { AuditFilters, NO_FILTER, toQuery } from './audit-filters.js';
import type { AuditFilter } from './audit-filters.js';
import { AuditTable } from './audit-table.js';
import { VerifyAudit } from './verify-audit.js';
import type { AuditLogEntry } from './objects.js';
import { VaultFrame } from './vault-frame.js';

const PAGE = 50;

/** As many as the service gives at once; older ones are found by filters. */
const MOST = 500;

const loadOptions = async () => requireAnswer(await secrets.GET('/audit-log/filter-options'));

export function AuditPage() {
  const options = useResource(loadOptions);
  const [filter, setFilter] = useState(NO_FILTER);
  return (
    <VaultFrame title="Audit log">
      <VerifyAudit />
      <Loaded from={options}>
        {(offered) => <AuditFilters offered={offered} filter={filter} onFilter={setFilter} />}
      </Loaded>
      <Entries filter={filter} />
    </VaultFrame>
  );
}

/** Newest first, more on request. */
function Entries({ filter }: { readonly filter: AuditFilter }) {
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => setLimit(PAGE), [filter]);
  const load = useCallback(async () => {
    const query = { order: 'desc' as const, limit, ...toQuery(filter) };
    const answer = await secrets.GET('/audit-log', { params: { query } });
    const entries: readonly AuditLogEntry[] = requireAnswer(answer);
    return { entries, count: Number(answer.response.headers.get('X-Total-Count')) };
  }, [limit, filter]);
  const page = useResource(load);
  return (
    <Loaded from={page}>
      {({ entries, count }) => (
        <>
          <p class="quiet" role="status">
            {entries.length} of {count} shown
          </p>
          <AuditTable entries={entries} />
          {entries.length < count && entries.length < MOST && (
            <button type="button" onClick={() => setLimit(Math.min(limit + PAGE, MOST))}>
              Show more
            </button>
          )}
        </>
      )}
    </Loaded>
  );
}
