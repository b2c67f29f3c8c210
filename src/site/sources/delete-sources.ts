import type { RecordTables } from '../records/record-schema.js';
import type { RecordStore } from '../record-store.js';
import { getPositionRange } from './positions.js';
import type { SiteSource } from './site-source.js';

const KINDS = ['Directory', 'File', 'ImageProc'] as const;

/** Deletes the files, folders and images of sources that are no longer configured, whose index is `count` or more. */
export function deleteObsoleteSources(store: RecordStore, count: number): void {
  forget(store, KINDS, { from: getPositionRange(count).from, to: Number.MAX_SAFE_INTEGER });
}

/** Deletes all records of a source that can't be read, because they may come from a previously configured folder. */
export function deleteSourceRecords(store: RecordStore, { place }: SiteSource, tables: RecordTables): void {
  const kinds = Object.values(tables).flatMap(({ kind, source }) => (source ? [kind] : []));
  forget(store, [...KINDS, ...kinds], getPositionRange(place));
}

function forget(store: RecordStore, kinds: readonly string[], within: { from: number; to: number }): void {
  const gone = kinds.map((kind) => [kind, [...store.rows(kind, ['id'], within)].map(({ id }) => String(id))] as const);
  if (gone.every(([, ids]) => ids.length === 0)) return;
  store.write((rows) => {
    for (const [kind, ids] of gone) for (const id of ids) rows.remove(kind, id);
  });
}
