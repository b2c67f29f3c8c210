import { batch, effect, signal } from '@preact/signals';
import { dashboard } from '../clients.js';
import { takeFact } from './board-facts.js';
import { filter as issueFilter, parseIssueFilter } from '../issues/issue-filter.js';
import type { IssueFilter } from '../issues/issue-filter.js';
import { keepNewest } from '../shell/keep-newest.js';
import { readKept, takeKnown, writeKept } from '../shell/kept-filters.js';
import type { KeptFilters } from '../shell/kept-filters.js';
import { GROUPS, NO_FILTER, PILLS, SIZES, SORTS } from './filter.js';
import type { Filter } from './filter.js';

/** There as long as the server may not know what is kept here. */
const UNSENT = 'trellis-filters-unsent';

/** So that typing is not sent letter by letter. */
const SAVE_TEXT_AFTER_MS = 500;

/** As it was left, at once from this browser; other devices get it from the server. */
export const filter = signal<Filter>(parseFilter(readKept().pullRequests));

/** Of both lists: the server keeps them as one. */
interface Chosen extends KeptFilters {
  readonly pullRequests: Filter;
  readonly issues: IssueFilter;
}

const chosen = (): Chosen => ({ pullRequests: filter.value, issues: issueFilter.value });

const isSame = (a: Chosen, b: Chosen): boolean => a.pullRequests === b.pullRequests && a.issues === b.issues;

/** Takes over what another device left unless something else is asked for, and keeps both places up to date until it is stopped. */
export function keepFilters(asked?: Filter): () => void {
  const isUnsent = localStorage.getItem(UNSENT) !== null;
  if (asked !== undefined) filter.value = asked;
  let saved = chosen();
  let timer: ReturnType<typeof setTimeout> | undefined;
  // One after the other, so that what was chosen last is what stays.
  const saveNewest = keepNewest(save);
  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    saveNewest(saved);
  };
  const stop = effect(() => {
    const now = chosen();
    if (isSame(now, saved)) return;
    const isTyped = now.pullRequests.text !== saved.pullRequests.text || now.issues.text !== saved.issues.text;
    saved = now;
    keep(now);
    clearTimeout(timer);
    if (isTyped) timer = setTimeout(send, SAVE_TEXT_AFTER_MS);
    else send();
  });
  if (asked !== undefined) keep(saved);
  if (asked !== undefined || isUnsent) send();
  const opened = saved;
  void load().then((found) => {
    // Whoever has chosen something meanwhile, or last in this browser, meant that.
    if (found === undefined || asked !== undefined || isUnsent || !isSame(chosen(), opened)) return;
    saved = found;
    batch(() => {
      filter.value = found.pullRequests;
      issueFilter.value = found.issues;
    });
    writeKept(found);
  });
  return () => {
    stop();
    if (timer !== undefined) send();
  };
}

function keep(value: Chosen): void {
  writeKept(value);
  localStorage.setItem(UNSENT, 'true');
}

/** What is not kept there is kept here, and sent when the page is come to again; neither hinders the list. */
async function save(value: Chosen): Promise<void> {
  const body = { ...value };
  const answer = await dashboard.PUT('/api/settings/filter-state', { body, keepalive: true }).catch(() => undefined);
  if (answer !== undefined && isSame(value, chosen())) localStorage.removeItem(UNSENT);
}

async function load(): Promise<Chosen | undefined> {
  const kept = takeFact('filters') ?? (await dashboard.GET('/api/settings/filter-state').catch(() => undefined))?.data;
  const { pullRequests, issues } = kept ?? {};
  if (pullRequests === undefined && issues === undefined) return undefined;
  const found = { pullRequests: parseFilter(pullRequests), issues: parseIssueFilter(issues) };
  return JSON.stringify(found) === JSON.stringify(chosen()) ? undefined : found;
}

/** What another release kept may have a value that means nothing any more. */
export function parseFilter(kept: unknown): Filter {
  const read = takeKnown(kept, NO_FILTER);
  const { pill, sort, group, size } = NO_FILTER;
  return {
    ...read,
    ...(Object.hasOwn(PILLS, read.pill) ? {} : { pill }),
    ...(Object.hasOwn(SORTS, read.sort) ? {} : { sort }),
    ...(Object.hasOwn(GROUPS, read.group) ? {} : { group }),
    ...((SIZES as readonly string[]).includes(read.size) ? {} : { size }),
  };
}
