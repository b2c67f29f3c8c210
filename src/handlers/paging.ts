type Values = readonly string[] | boolean | number | string | undefined;

interface Headers {
  readonly 'X-Total-Count': string;
  readonly Link?: string;
}

export interface Page {
  readonly total: number;
  /** Where the list is served. */
  readonly path: string;
  /** The parameters of the next page, those of this one included; `undefined` on the last. */
  readonly next: Readonly<Record<string, Values>> | undefined;
}

/** The headers of a page: how many there are, and where the next is. */
export function pageHeaders({ total, path, next }: Page): Headers {
  const count = { 'X-Total-Count': String(total) };
  if (next === undefined) return count;
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(next)) {
    for (const value of [values ?? []].flat()) query.append(name, String(value));
  }
  return { ...count, Link: `<${path}?${query.toString()}>; rel="next"` };
}
