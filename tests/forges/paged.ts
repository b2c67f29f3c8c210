import type { TestResponse, RecordedRequest } from './forge-server.js';

export interface Paging {
  readonly url: string;
  /** The forge's name of the parameter for the page size. */
  readonly size: 'limit' | 'per_page';
  readonly most?: number;
  readonly repeatsPages?: boolean;
  /** Whether the list has no links to other pages, only the number of its items. */
  readonly hasNoLinks?: boolean;
}

/** Returns a page of a list, with a `Link` header for the next page unless the list has none. */
export function toPage(
  items: readonly unknown[],
  { query, path }: RecordedRequest,
  { url, size, most = 100, repeatsPages = false, hasNoLinks = false }: Paging,
): TestResponse {
  const length = Math.min(Number(query.get(size) ?? 30), most);
  const page = repeatsPages ? 1 : Number(query.get('page') ?? 1);
  const hasNext = repeatsPages || page * length < items.length;
  const link: Record<string, string> =
    hasNext && !hasNoLinks
      ? { Link: `<${url}${path}?page=${page + 1}>; rel="next",<${url}${path}?page=9>; rel="last"` }
      : {};
  const body = items.slice((page - 1) * length, page * length);
  return { body, headers: { ...link, 'X-Total-Count': String(items.length) } };
}
