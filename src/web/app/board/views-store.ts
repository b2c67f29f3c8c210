import { signal } from '@preact/signals';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { preloadedBoard, consumePreloaded } from './preloaded-board.js';
import type { SavedView } from './views.js';
import { toView } from './views.js';
import type { Filter } from './filter.js';
import type { Writable } from './rows.js';

/** The saved views; undefined until they are loaded. */
export const savedViews = signal<readonly SavedView[] | undefined>(preloadedBoard?.views);

export async function loadViews(): Promise<void> {
  const found = consumePreloaded('views') ?? (await dashboardClient.GET('/api/views').catch(() => undefined))?.data;
  if (found !== undefined) savedViews.value = found;
}

export async function saveView(name: string, filter: Filter): Promise<void> {
  const open = savedViews.value?.find((view) => view.name === filter.view);
  const body = toView(filter, open);
  requireData(await dashboardClient.PUT('/api/views/{name}', { params: { path: { name } }, body }));
  await loadViews();
}

/** Renames a view by saving a copy and deleting the original, as the API has no operation for it. */
export async function renameView(before: string, name: string): Promise<void> {
  const view = savedViews.value?.find((one) => one.name === before);
  if (view === undefined) return;
  const { filter, sort, group } = structuredClone(view) as Writable<SavedView>;
  const body = { filter, sort, group };
  requireData(await dashboardClient.PUT('/api/views/{name}', { params: { path: { name } }, body }));
  await deleteView(before);
}

export async function deleteView(name: string): Promise<void> {
  requireData(await dashboardClient.DELETE('/api/views/{name}', { params: { path: { name } } }));
  await loadViews();
}
