import { requireData } from './errors.js';
import type { At, Data, InitArguments, PathsWith, ServiceClient } from './service-client.js';

/** The query parameters of a list that is paged by offset. */
export interface PageQuery {
  readonly offset: number;
  readonly limit: number;
  /** The cursor in the `Link` header of the previous page, if there is one; lists with cursors ignore the offset then. */
  readonly cursor?: string;
}

/** The result of a list request. */
export interface PageResponse<Item> {
  readonly data?: readonly Item[];
  readonly error?: unknown;
  readonly response: Response;
}

/** The largest page that the services allow, for the fewest requests. */
const LARGEST_PAGE = 500;

/** The paths whose lists have a query parameter with this name. */
type ListPath<Paths, Parameter extends string> = {
  [Path in PathsWith<Paths, 'get'>]: At<Paths, Path, 'get'> extends {
    readonly parameters: { readonly query?: infer Query };
  }
    ? Parameter extends keyof NonNullable<Query>
      ? Path
      : never
    : never;
}[PathsWith<Paths, 'get'>];

type ItemAt<Paths, Path> = Data<At<Paths, Path, 'get'>> extends readonly (infer Item)[] ? Item : never;

type List<Item> = AsyncGenerator<Item, void, undefined>;

/**
 * Yields all items of a list, and requests each page when it is needed.
 *
 * ```ts
 * for await (const object of readAll(client, '/objects')) …
 * for await (const object of readAll((page) => client.GET('/objects', { params: { query: page } }))) …
 * ```
 *
 * If the list links to its next page by a cursor, items that are added or removed during the iteration neither repeat nor
 * hide others. Otherwise they can shift the offset, so that an item is repeated or skipped.
 *
 * @throws ApiError for an error response.
 */
export function readAll<Paths, Path extends string>(
  client: ServiceClient<Paths>,
  path: ListPath<Paths, 'offset'> & Path,
  ...init: InitArguments<At<Paths, Path, 'get'>, 'json'>
): List<ItemAt<Paths, Path>>;
export function readAll<Item>(
  readPage: (page: PageQuery) => Promise<PageResponse<Item>>,
  start?: Partial<PageQuery>,
): List<Item>;
export function readAll(source: ListSource<PageQuery>, ...rest: readonly unknown[]): List<unknown> {
  const { readPage, start } = toReader(source, rest);
  return readByOffset(readPage, start);
}

async function* readByOffset<Item>(
  readPage: (page: PageQuery) => Promise<PageResponse<Item>>,
  { offset = 0, limit = LARGEST_PAGE }: Partial<PageQuery>,
): List<Item> {
  let cursor: string | undefined;
  for (let next = offset; ;) {
    const { items, response } = await requirePage(readPage({ offset: next, limit, cursor }));
    yield* items;
    next += items.length;
    cursor = findCursor(response.headers);
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
export function readAllAfter<Paths, Path extends string>(
  client: ServiceClient<Paths>,
  path: ListPath<Paths, 'after'> & Path,
  ...init: InitArguments<At<Paths, Path, 'get'>, 'json'>
): List<ItemAt<Paths, Path>>;
export function readAllAfter<Item extends { readonly id: number }>(
  readPage: (page: PageAfterQuery) => Promise<PageResponse<Item>>,
  start?: Partial<PageAfterQuery>,
): List<Item>;
export function readAllAfter(source: ListSource<PageAfterQuery>, ...rest: readonly unknown[]): List<unknown> {
  const { readPage, start } = toReader(source, rest);
  return readById(readPage as (page: PageAfterQuery) => Promise<PageResponse<{ readonly id: number }>>, start);
}

async function* readById<Item extends { readonly id: number }>(
  readPage: (page: PageAfterQuery) => Promise<PageResponse<Item>>,
  { after, limit = LARGEST_PAGE }: Partial<PageAfterQuery>,
): List<Item> {
  for (let last = after; ;) {
    const { items, response } = await requirePage(readPage({ after: last, limit }));
    yield* items;
    last = items.at(-1)?.id;
    if (last === undefined || !mayHaveNext(response.headers)) return;
  }
}

type ReadPage<Page> = (page: Page) => Promise<PageResponse<unknown>>;

/** A function that reads a page, or the client that reads the list at a path. */
type ListSource<Page> = ReadPage<Page> | { readonly GET: unknown };

interface ListInit<Page> {
  readonly params?: { readonly query?: Partial<Page> };
}

/** Returns a function that reads a page, and the start of the list. */
function toReader<Page>(source: ListSource<Page>, [first, init]: readonly unknown[]) {
  if (typeof source === 'function') return { readPage: source, start: (first ?? {}) as Partial<Page> };
  const { params = {}, ...options } = (init ?? {}) as ListInit<Page>;
  const get = source.GET as (path: unknown, init: object) => Promise<PageResponse<unknown>>;
  const readPage: ReadPage<Page> = (page) =>
    get(first, { ...options, params: { ...params, query: { ...params.query, ...page } } });
  return { readPage, start: params.query ?? {} };
}

async function requirePage<Item>(result: Promise<PageResponse<Item>>) {
  const page = await result;
  return { items: requireData<readonly Item[] | undefined>(page) ?? [], response: page.response };
}

/** Uses the total when the response contains one, else the `Link` header. */
function hasMore(headers: Headers, position: number): boolean {
  const total = headers.get('X-Total-Count');
  return total !== null && /^\d+$/.test(total) ? position < Number(total) : mayHaveNext(headers);
}

function findCursor(headers: Headers): string | undefined {
  const [, query] = /<[^>?]*\?([^>]*)>;\s*rel="?next"?/i.exec(headers.get('Link') ?? '') ?? [];
  return new URLSearchParams(query).get('cursor') ?? undefined;
}

/** Returns true without a `Link` header, as a list without links ends with an empty page. */
function mayHaveNext(headers: Headers): boolean {
  const link = headers.get('Link');
  return link === null || /;\s*rel="?next"?/i.test(link);
}
