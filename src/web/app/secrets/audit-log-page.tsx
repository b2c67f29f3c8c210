import { useCallback, useState } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { secretsClient } from './client.js';
import { ActionButton } from '../ui/action-button.js';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { AuditFilters, NO_AUDIT_FILTER } from './audit-filters.js';
import type { AuditFilterState } from './audit-filters.js';
import { loadAuditEntryPage } from './audit-log-pages.js';
import type { AuditEntryPage as Page } from './audit-log-pages.js';
import { AuditTable } from './audit-table.js';
import { ExportAudit } from './export-audit.js';
import { VerifyAudit } from './verify-audit.js';
import { SecretsLayout } from './secrets-layout.js';

const PAGE_SIZE = 50;

const loadOptions = async () => requireData(await secretsClient.GET('/audit-log/filter-options'));

export function AuditLogPage() {
  const options = useResource(loadOptions);
  const [filter, setFilter] = useState(NO_AUDIT_FILTER);
  return (
    <SecretsLayout title="Audit log">
      <VerifyAudit />
      <AsyncContent from={options}>
        {(offered) => <AuditFilters offered={offered} filter={filter} onFilter={setFilter} />}
      </AsyncContent>
      <Entries filter={filter} />
    </SecretsLayout>
  );
}

/** The entries that match a filter, newest first. A button loads older ones. */
function Entries({ filter }: { readonly filter: AuditFilterState }) {
  const load = useCallback(async () => {
    const page = await loadAuditEntryPage(filter, { limit: PAGE_SIZE });
    return { page, key: performance.now() };
  }, [filter]);
  const first = useResource(load);
  // A new key for each load drops older entries that were loaded for the previous filter.
  return <AsyncContent from={first}>{({ page, key }) => <Pages key={key} first={page} />}</AsyncContent>;
}

function Pages({ first }: { readonly first: Page }) {
  const [entries, setEntries] = useState(first.entries);
  const [count, setCount] = useState(first.count);
  const loadOlder = async (): Promise<void> => {
    const page = await loadAuditEntryPage(first.filter, { after: entries.at(-1)?.id, limit: PAGE_SIZE });
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
