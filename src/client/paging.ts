import { decodeError } from './errors.js';

/** Where a page starts and how much it may hold, as the query parameters of a list are called. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** What a call of a list answers. */
export interface PageAnswer<Item> {
  readonly data?: readonly Item[] | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** What the services' lists allow at most, so the fewest requests. */
const LARGEST_PAGE = 500;

/**
 * Reads a list from its start to its end, one page at a time, and only as far
 * as it is iterated.
 *
 * ```ts
 * for await (const object of readAll((page) => client.GET('/objects', { params: { query: page } }))) …
 * ```
 *
 * What is added or removed in front of the place reached, meanwhile, may show
 * an item twice or hide it: that is the nature of an offset.
 *
 * @throws ApiError when a page is refused.
 */
export async function* readAll<Item>(
  readPage: (page: Page) => Promise<PageAnswer<Item>>,
  { offset = 0, limit = LARGEST_PAGE }: Partial<Page> = {},
): AsyncGenerator<Item, void, undefined> {
  for (let next = offset; ;) {
    const { items, response } = await requirePage(readPage({ offset: next, limit }));
    yield* items;
    next += items.length;
    if (items.length === 0 || !hasMore(response.headers, next)) return;
  }
}

/** Where a page of a list that grows starts: behind the entry of this id, or at the first. */
export interface PageAfter {
  readonly after?: number | undefined;
  readonly limit: number;
}

/**
 * Reads a list that is paged by `after`, such as the audit log, like
 * {@link readAll}; what is added meanwhile shifts nothing.
 *
 * @throws ApiError when a page is refused.
 */
export async function* readAllAfter<Item extends { readonly id: number }>(
  readPage: (page: PageAfter) => Promise<PageAnswer<Item>>,
  { after, limit = LARGEST_PAGE }: Partial<PageAfter> = {},
): AsyncGenerator<Item, void, undefined> {
  for (let last = after; ;) {
    const { items, response } = await requirePage(readPage({ after: last, limit }));
    yield* items;
    last = items.at(-1)?.id;
    if (last === undefined || !mayLinkOn(response.headers)) return;
  }
}

async function requirePage<Item>(answer: Promise<PageAnswer<Item>>) {
  const { data, error, response } = await answer;
  const refusal = decodeError(response, error);
  if (refusal) throw refusal;
  return { items: data ?? [], response };
}

/** By the total where the list gives one, else by its link. */
function hasMore(headers: Headers, reached: number): boolean {
  const total = headers.get('X-Total-Count');
  return total !== null && /^\d+$/.test(total) ? reached < Number(total) : mayLinkOn(headers);
}

/** A list without links ends with an empty page. */
function mayLinkOn(headers: Headers): boolean {
  const link = headers.get('Link');
  return link === null || /;\s*rel="?next"?/i.test(link);
}
