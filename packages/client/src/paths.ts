/** Paths of contracts with a fragment or a query. Only the clients of such contracts contain this module. */
import type { HeadersOptions } from 'openapi-fetch';
import type { ParseAs } from './service-client.js';

/** A call without the types of the contract. */
export interface UntypedInit {
  readonly body?: unknown;
  readonly headers?: HeadersOptions;
  readonly bodySerializer?: unknown;
  readonly parseAs?: ParseAs;
  readonly signal?: AbortSignal | null;
  readonly params?: Readonly<
    Partial<Record<'cookie' | 'header' | 'path' | 'query', Readonly<Record<string, unknown>>>>
  >;
}

/** Removes the fragment of a path, which only distinguishes operations, and moves its query to the parameters. */
export function splitPath(declared: string, init: UntypedInit): readonly [path: string, init: UntypedInit] {
  const [path = '', query = ''] = declared.replace(/#.*$/s, '').split('?');
  if (query === '') return [path, init];
  const fixed = new URLSearchParams(query);
  const values = Object.fromEntries([...fixed.keys()].map((name) => [name, fixed.getAll(name)]));
  return [path, { ...init, params: { ...init.params, query: { ...values, ...init.params?.query } } }];
}
