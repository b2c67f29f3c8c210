import type { Answer, Seen } from './forge-server.js';

export interface Paging {
  readonly url: string;
  /** What the forge calls the length of a page. */
  readonly size: 'limit' | 'per_page';
  readonly most?: number;
  readonly repeatsPages?: boolean;
}

/** A page of a list, which names the next one in its headers. */
export function toPage(
  items: readonly unknown[],
  { query, path }: Seen,
  { url, size, most = 100, repeatsPages = false }: Paging,
): Answer {
  const length = Math.min(Number(query.get(size) ?? 30), most);
  const page = repeatsPages ? 1 : Number(query.get('page') ?? 1);
  const hasNext = repeatsPages || page * length < items.length;
  const link: Record<string, string> = hasNext
    ? { Link: `<${url}${path}?page=${page + 1}>; rel="next",<${url}${path}?page=9>; rel="last"` }
    : {};
  const body = items.slice((page - 1) * length, page * length);
  return { body, headers: { ...link, 'X-Total-Count': String(items.length) } };
}
