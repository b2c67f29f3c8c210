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
    const { data = [], error, response } = await readPage({ offset: next, limit });
    const refusal = decodeError(response, error);
    if (refusal) throw refusal;
    yield* data;
    next += data.length;
    if (data.length === 0 || !hasMore(response.headers, next)) return;
  }
}

/** By the total where the list gives one, else by its link; a list that gives neither ends with an empty page. */
function hasMore(headers: Headers, reached: number): boolean {
  const total = headers.get('X-Total-Count');
  if (total !== null && /^\d+$/.test(total)) return reached < Number(total);
  const link = headers.get('Link');
  return link === null || /;\s*rel="?next"?/i.test(link);
}
