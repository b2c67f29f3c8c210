import { decodeError } from './errors.js';

/** The query parameters of a list that is paged by offset. */
export interface PageQuery {
  readonly offset: number;
  readonly limit: number;
}

/** The result of a list request. */
export interface PageResponse<Item> {
  readonly data?: readonly Item[];
  readonly error?: unknown;
  readonly response: Response;
}

/** The largest page that the services allow, for the fewest requests. */
const LARGEST_PAGE = 500;

/**
 * Yields all items of a list, and requests each page when it is needed.
 *
 * ```ts
 * for await (const object of readAll((page) => client.GET('/objects', { params: { query: page } }))) …
 * ```
 *
 * Items that are added or removed during the iteration can shift the offset, so that an item is repeated or skipped.
 *
 * @throws ApiError for an error response.
 */
export async function* readAll<Item>(
  readPage: (page: PageQuery) => Promise<PageResponse<Item>>,
  { offset = 0, limit = LARGEST_PAGE }: Partial<PageQuery> = {},
): AsyncGenerator<Item, void, undefined> {
  for (let next = offset; ;) {
    const { items, response } = await requirePage(readPage({ offset: next, limit }));
    yield* items;
    next += items.length;
    if (items.length === 0 || !hasMore(response.headers, next)) return;
  }
}

/** The query parameters of a list that is paged by id. */
export interface PageAfterQuery {
  /** The id of the last entry of the previous page; the list starts at its first entry when omitted. */
  readonly after?: number;
  readonly limit: number;
}

/**
 * Yields all items of a list that is paged by `after`, such as the audit log, like {@link readAll}. Items that are
 * added during the iteration neither repeat nor hide others.
 *
 * @throws ApiError for an error response.
 */
export async function* readAllAfter<Item extends { readonly id: number }>(
  readPage: (page: PageAfterQuery) => Promise<PageResponse<Item>>,
  { after, limit = LARGEST_PAGE }: Partial<PageAfterQuery> = {},
): AsyncGenerator<Item, void, undefined> {
  for (let last = after; ;) {
    const { items, response } = await requirePage(readPage({ after: last, limit }));
    yield* items;
    last = items.at(-1)?.id;
    if (last === undefined || !mayHaveNext(response.headers)) return;
  }
}

async function requirePage<Item>(result: Promise<PageResponse<Item>>) {
  const { data, error, response } = await result;
  const apiError = decodeError(response, error);
  if (apiError) throw apiError;
  return { items: data ?? [], response };
}

/** Uses the total when the response contains one, else the `Link` header. */
function hasMore(headers: Headers, position: number): boolean {
  const total = headers.get('X-Total-Count');
  return total !== null && /^\d+$/.test(total) ? position < Number(total) : mayHaveNext(headers);
}

/** Returns true without a `Link` header, as a list without links ends with an empty page. */
function mayHaveNext(headers: Headers): boolean {
  const link = headers.get('Link');
  return link === null || /;\s*rel="?next"?/i.test(link);
}
