import { useCallback, useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { ActionButton } from '../shell/action-button.js';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { AuditFilters, NO_FILTER } from './audit-filters.js';
import type { AuditFilter } from './audit-filters.js';
import { loadAuditPage } from './audit-pages.js';
import type { AuditPage as Page } from './audit-pages.js';
import { AuditTable } from './audit-table.js';
import { ExportAudit } from './export-audit.js';
import { VerifyAudit } from './verify-audit.js';
import { VaultFrame } from './vault-frame.js';

const PAGE_SIZE = 50;

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

/** The entries that match a filter, newest first. A button loads older ones. */
function Entries({ filter }: { readonly filter: AuditFilter }) {
  const load = useCallback(async () => {
    const page = await loadAuditPage(filter, { limit: PAGE_SIZE });
    return { page, key: performance.now() };
  }, [filter]);
  const first = useResource(load);
  // A new key for each load drops older entries that were loaded for the previous filter.
  return <Loaded from={first}>{({ page, key }) => <Pages key={key} first={page} />}</Loaded>;
}

function Pages({ first }: { readonly first: Page }) {
  const [entries, setEntries] = useState(first.entries);
  const [count, setCount] = useState(first.count);
  const loadOlder = async (): Promise<void> => {
    const page = await loadAuditPage(first.filter, { after: entries.at(-1)?.id, limit: PAGE_SIZE });
    setEntries([...entries, ...page.entries]);
    setCount(page.count);
  };
  const isLast = entries.at(-1)?.id === undefined || entries.length >= count;
  return (
    <>
      <div class="row wrapping spread">
        <p class="quiet" role="status">
          {entries.length} of {count} shown
        </p>
        {count > 0 && <ExportAudit filter={first.filter} />}
      </div>
      <AuditTable entries={entries} />
      {!isLast && <ActionButton onAct={loadOlder}>Show older entries</ActionButton>}
    </>
  );
}
