import type { RecordStore } from '../record-store.js';
import { positionsOf } from './positions.js';

const KINDS = ['Directory', 'File', 'ImageProc'] as const;

/** Removes the files, folders and pictures of sources that the site had in places from `count` on. */
export function forgetSources(store: RecordStore, count: number): void {
  const within = { from: positionsOf(count).from, to: Number.MAX_SAFE_INTEGER };
  const gone = KINDS.map((kind) => [kind, [...store.rows(kind, ['id'], within)].map(({ id }) => String(id))] as const);
  if (gone.every(([, ids]) => ids.length === 0)) return;
  store.write((rows) => {
    for (const [kind, ids] of gone) for (const id of ids) rows.remove(kind, id);
  });
}
