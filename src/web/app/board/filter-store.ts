import { effect, signal } from '@preact/signals';
import { dashboard } from '../clients.js';
import { GROUPS, NO_FILTER, PILLS, SIZES, SORTS } from './filter.js';
import type { Filter } from './filter.js';

const KEPT_AS = 'trellis-filter';

/** There as long as the server may not know what is kept here. */
const UNSENT = 'trellis-filter-unsent';

/** So that typing is not sent letter by letter. */
const SAVE_TEXT_AFTER_MS = 500;

/** As it was left, at once from this browser; other devices get it from the server. */
export const filter = signal<Filter>(parseFilter(localStorage.getItem(KEPT_AS) ?? ''));

/** Takes over what another device left, and keeps both places up to date until it is stopped. */
export function keepFilter(): () => void {
  const isUnsent = localStorage.getItem(UNSENT) !== null;
  const asked = takeAddress();
  if (asked !== undefined) filter.value = asked;
  let saved = filter.value;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sent = Promise.resolve();
  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const value = saved;
    // One after the other, so that what was chosen last is what stays; what was chosen since is sent in its place.
    sent = sent.then(() => (value === saved ? save(value) : undefined));
  };
  const stop = effect(() => {
    const { value } = filter;
    if (value === saved) return;
    const isTyped = value.text !== saved.text;
    saved = value;
    keep(value);
    clearTimeout(timer);
    if (isTyped) timer = setTimeout(send, SAVE_TEXT_AFTER_MS);
    else send();
  });
  if (asked !== undefined) keep(asked);
  if (asked !== undefined || isUnsent) send();
  const opened = filter.value;
  void load().then((found) => {
    // Whoever has chosen something meanwhile, or last in this browser, meant that.
    if (found === undefined || asked !== undefined || isUnsent || filter.value !== opened) return;
    saved = found;
    filter.value = found;
    localStorage.setItem(KEPT_AS, JSON.stringify(found));
  });
  return () => {
    stop();
    if (timer !== undefined) send();
  };
}

function keep(value: Filter): void {
  localStorage.setItem(KEPT_AS, JSON.stringify(value));
  localStorage.setItem(UNSENT, 'true');
}

/** What is not kept there is kept here, and sent when the page is come to again; neither hinders the list. */
async function save(value: Filter): Promise<void> {
  const body = { pullRequests: { ...value } };
  const answer = await dashboard.PUT('/api/settings/filter-state', { body, keepalive: true }).catch(() => undefined);
  if (answer !== undefined && value === filter.value) localStorage.removeItem(UNSENT);
}

async function load(): Promise<Filter | undefined> {
  const answer = await dashboard.GET('/api/settings/filter-state').catch(() => undefined);
  const text = JSON.stringify(answer?.data?.pullRequests ?? {});
  if (text === '{}') return undefined;
  const found = parseFilter(text);
  return JSON.stringify(found) === JSON.stringify(filter.value) ? undefined : found;
}

/** What another release kept may lack a member, or have one that means nothing any more. */
function parseFilter(text: string): Filter {
  try {
    const kept = JSON.parse(text) as Partial<Record<keyof Filter, unknown>>;
    const known = Object.entries(NO_FILTER).map(([name, none]) => {
      const value = kept[name as keyof Filter];
      return [name, typeof value === typeof none ? value : none] as const;
    });
    const read = Object.fromEntries(known) as unknown as Filter;
    const { pill, sort, group, size } = NO_FILTER;
    return {
      ...read,
      ...(Object.hasOwn(PILLS, read.pill) ? {} : { pill }),
      ...(Object.hasOwn(SORTS, read.sort) ? {} : { sort }),
      ...(Object.hasOwn(GROUPS, read.group) ? {} : { group }),
      ...((SIZES as readonly string[]).includes(read.size) ? {} : { size }),
    };
  } catch {
    return NO_FILTER;
  }
}

/** Where the same rows are listed the same way, of whoever opens it. */
export function addressOf(value: Filter): string {
  const chosen = Object.entries(value).filter(([name, one]) => one !== NO_FILTER[name as keyof Filter]);
  const query = new URLSearchParams(chosen.map(([name, one]) => [name, String(one)]));
  return `${location.origin}/?${query.toString()}`;
}

/** What the address asks for, once: from then on the list is what is chosen. */
function takeAddress(): Filter | undefined {
  const asked = Object.fromEntries(new URLSearchParams(location.search));
  if (!Object.keys(asked).some((name) => Object.hasOwn(NO_FILTER, name))) return undefined;
  history.replaceState(history.state, '', location.pathname);
  const flags = { drafts: asked.drafts === 'true', snoozed: asked.snoozed === 'true' };
  return parseFilter(JSON.stringify({ ...asked, ...flags }));
}
