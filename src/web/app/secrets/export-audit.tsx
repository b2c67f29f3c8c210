import { ActionButton } from '../ui/action-button.js';
import { showToast } from '../ui/toasts.js';
import type { AuditFilterState } from './audit-filters.js';
import { MAX_EXPORTED_ENTRIES, readAuditLog } from './audit-log-pages.js';
import { toCsv } from './csv.js';
import { saveFile } from './save-file.js';

const COLUMNS = [
  'id',
  'timestamp',
  'action',
  'subject_type',
  'object_id',
  'variant_id',
  'version',
  'subject_id',
  'previous_slug',
  'actor_type',
  'actor_id',
  'caller',
  'ip',
] as const;

/** Buttons that download all entries that match the filter, as CSV or JSON. */
export function ExportAudit({ filter }: { readonly filter: AuditFilterState }) {
  const save = async (kind: 'csv' | 'json'): Promise<void> => {
    const entries = await readAuditLog(filter);
    const text = kind === 'csv' ? toCsv(COLUMNS, entries) : `${JSON.stringify(entries, null, 2)}\n`;
    saveFile(`audit-log.${kind}`, text, kind === 'csv' ? 'text/csv' : 'application/json');
    showToast(describe(entries.length));
  };
  return (
    <div class="row wrapping">
      <ActionButton onAct={() => save('csv')}>Export as CSV</ActionButton>
      <ActionButton onAct={() => save('json')}>Export as JSON</ActionButton>
    </div>
  );
}

function describe(count: number): string {
  if (count >= MAX_EXPORTED_ENTRIES)
    return `Exported the newest ${count} entries. Filter by date to export older ones.`;
  return `Exported ${count} ${count === 1 ? 'entry' : 'entries'}.`;
}
