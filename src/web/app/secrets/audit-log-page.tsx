import { useSignal } from '@preact/signals';
import { useCallback, useState } from 'preact/hooks';
import type { components } from '../../../generated/secrets/client.js';
import { requireData } from '../api.js';
import { useAddress } from '../ui/address.js';
import { sharedStorage } from '../ui/browser-storage.js';
import { ActionButton } from '../ui/buttons.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { showToast } from '../ui/toasts.js';
import {
  type AuditEntryPage as Page,
  AuditFilters,
  type AuditFilterState,
  AuditTable,
  loadAuditEntryPage,
  MAX_EXPORTED_ENTRIES,
  NO_AUDIT_FILTER,
  readAuditFilter,
  readAuditLog,
} from './audit-entries.js';
import { SecretsLayout } from './secrets-layout.js';
import { secretsClient } from './secrets.js';

const PAGE_SIZE = 50;

const loadOptions = async () => requireData(await secretsClient.GET('/audit-log/filter-options'));

export function AuditLogPage() {
  const state = useSignal(NO_AUDIT_FILTER);
  const filter = state.value;
  useAddress(state, NO_AUDIT_FILTER, readAuditFilter);
  const { offered, entries } = useAuditLog(filter);
  return (
    <SecretsLayout title="Audit log">
      <VerifyAudit />
      {offered && <AuditFilters offered={offered} filter={filter} onFilter={(next) => (state.value = next)} />}
      <AsyncContent from={entries}>{({ page, key }) => <Pages key={key} first={page} />}</AsyncContent>
    </SecretsLayout>
  );
}

/**
 * Loads the first entries that match a filter, and once the values that filters offer: one error covers both. The filters
 * remain usable when entries can't be loaded, as the filter itself may be the reason.
 */
function useAuditLog(filter: AuditFilterState) {
  const offered = useSignal<Awaited<ReturnType<typeof loadOptions>>>();
  const load = useCallback(async () => {
    const offer = async () => (offered.value ??= await loadOptions());
    const [page] = await Promise.all([loadAuditEntryPage(filter, { limit: PAGE_SIZE }), offer()]);
    // A new key for each load drops older entries that were loaded for the previous filter.
    return { page, key: performance.now() };
  }, [filter]);
  const log = useResource(load);
  // The entries of the previous filter would look like those of a filter that could not be loaded.
  return { offered: offered.value, entries: log.problem === undefined ? log : { ...log, value: undefined } };
}

/** The entries that match a filter, newest first. A button loads older ones. */
function Pages({ first }: { readonly first: Page }) {
  const [{ entries, count, hasOlder }, setLoaded] = useState(first);
  const loadOlder = async (): Promise<void> => {
    const page = await loadAuditEntryPage(first.filter, { after: entries.at(-1)?.id, limit: PAGE_SIZE });
    setLoaded({ ...page, entries: [...entries, ...page.entries] });
  };
  // The count of a large log may be too low.
  const total = hasOlder ? count : entries.length;
  return (
    <>
      <div class="row wrapping spread">
        <p class="quiet" role="status">
          {entries.length} {total >= entries.length && `of ${total} `}shown
        </p>
        {entries.length > 0 && <ExportAudit filter={first.filter} />}
      </div>
      <AuditTable entries={entries} />
      {hasOlder && <ActionButton onAct={loadOlder}>Show older entries</ActionButton>}
    </>
  );
}

type Verification = components['schemas']['AuditLogVerification'];

/** Stores the last verified head of the hash chain in this browser, to detect a log that was rebuilt. */
const STORAGE_KEY = 'trellis-audit-head';

/** A button that verifies the hash chain from the last signed checkpoint, also against the head that this browser verified before. */
function VerifyAudit() {
  const [result, setResult] = useState('');
  const verify = async (): Promise<void> => {
    const saved = readVerifiedHead();
    const result = await requestVerification(saved);
    const isArchived = result.response.status === 400 && saved.entries !== undefined;
    const verified = requireData(isArchived ? await requestVerification({}) : result);
    const { intact, entries, head } = verified;
    if (intact && head !== undefined) sharedStorage.setItem(STORAGE_KEY, JSON.stringify({ entries, head }));
    setResult(describeVerification(verified) + (isArchived ? ` ${NOT_COMPARED}` : ''));
  };
  return (
    <p>
      <ActionButton onAct={verify}>Verify log</ActionButton> <span role="status">{result}</span>
    </p>
  );
}

const requestVerification = (query: VerifiedHead) => secretsClient.GET('/audit-log/verify', { params: { query } });

const NOT_COMPARED =
  'The last entry that this browser verified before is no longer in the log, as it may have been archived, so it was not compared.';

function describeVerification(verified: Verification): string {
  const { intact, entries, verified_from: from = 1, first_broken_id: id, reason = 'changed' } = verified;
  const { altered = [] } = verified.values ?? {};
  if (id === undefined && altered.length > 0) return describeAltered(altered);
  if (intact && from === 1) return `All ${entries} entries are unchanged.`;
  if (intact && from > entries) return `The ${entries} entries lead to the checkpoint that the server signed.`;
  if (intact) return `Entries ${from} to ${entries} are unchanged, and those before lead to a signed checkpoint.`;
  return `The log was altered: entry ${id} ${ALTERATIONS[reason]}.`;
}

type Altered = components['schemas']['ValueVerification']['altered'];

function describeAltered(altered: Altered): string {
  const names = altered.slice(0, 10).map(({ object_id: slug, reason }) => `${slug} (${VALUE_ALTERATIONS[reason]})`);
  const more = altered.length > names.length ? `, and ${altered.length - names.length} more` : '';
  return `Stored values differ from the log: ${names.join(', ')}${more}.`;
}

const VALUE_ALTERATIONS: Readonly<Record<Altered[number]['reason'], string>> = {
  value: 'the value was changed',
  version: 'not the value that was stored last',
  recipients: 'the recipients were changed',
  signature: 'the signature was removed or replaced',
  missing: 'the value is missing',
  unknown: 'the log has no entry about it',
};

const ALTERATIONS = {
  added: 'was added after the end of the log',
  changed: 'was changed',
  missing: 'is missing, or differs from the one that this browser verified before',
};

interface VerifiedHead {
  readonly entries?: number;
  readonly head?: string;
}

function readVerifiedHead(): VerifiedHead {
  try {
    return JSON.parse(sharedStorage.getItem(STORAGE_KEY) ?? '{}') as VerifiedHead;
  } catch {
    return {};
  }
}

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
  'value_version',
  'value_digest',
  'recipients',
  'signer',
  'key',
  'previous_key',
  'reason',
  'count',
  'names',
  'rule',
  'token_issuer',
  'token_subject',
  'device',
  'device_ip',
  'actor_type',
  'actor_id',
  'caller',
  'ip',
] as const;

/** Buttons that download all entries that match the filter, as CSV or JSON. */
function ExportAudit({ filter }: { readonly filter: AuditFilterState }) {
  const save = async (kind: 'csv' | 'json'): Promise<void> => {
    const entries = await readAuditLog(filter);
    const text = kind === 'csv' ? toCsv(COLUMNS, entries) : `${JSON.stringify(entries, null, 2)}\n`;
    saveFile(`audit-log.${kind}`, text, kind === 'csv' ? 'text/csv' : 'application/json');
    showToast(describeExport(entries.length));
  };
  return (
    <div class="row wrapping">
      <ActionButton onAct={() => save('csv')}>Export as CSV</ActionButton>
      <ActionButton onAct={() => save('json')}>Export as JSON</ActionButton>
    </div>
  );
}

function describeExport(count: number): string {
  if (count >= MAX_EXPORTED_ENTRIES)
    return `Exported the newest ${count} entries. Filter by date to export older ones.`;
  return `Exported ${count} ${count === 1 ? 'entry' : 'entries'}.`;
}

type Cell = number | string | readonly string[];

/**
 * Formats rows as CSV (RFC 4180), and lists with spaces between their items. Cells that a spreadsheet would evaluate as a
 * formula get the prefix `'`.
 */
function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Partial<Record<Column, Cell>>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => toCell(row[column] ?? '')));
  return [columns, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(cell: Cell): string {
  const value = typeof cell === 'object' ? cell.join(' ') : cell;
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Saves text as a download of the browser. */
function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The click has already started the download, which keeps its own reference to the data.
  URL.revokeObjectURL(url);
}
