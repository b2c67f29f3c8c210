type Values = readonly string[] | boolean | number | string | undefined;

interface Headers {
  readonly 'X-Total-Count': string;
  readonly Link?: string;
}

export interface ListPage {
  readonly total: number;
  /** The path of the list operation. */
  readonly path: string;
  /** All query parameters of the next page; `undefined` on the last page. */
  readonly next: Readonly<Record<string, Values>> | undefined;
}

/** Returns the headers of a page: the total count, and a link to the next page. */
export function pageHeaders({ total, path, next }: ListPage): Headers {
  const count = { 'X-Total-Count': String(total) };
  if (next === undefined) return count;
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(next)) {
    for (const value of [values ?? []].flat()) query.append(name, String(value));
  }
  return { ...count, Link: `<${path}?${query.toString()}>; rel="next"` };
}
