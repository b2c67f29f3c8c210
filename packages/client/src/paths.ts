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
  const params = {
    ...init.params,
    query: { ...Object.fromEntries(new URLSearchParams(query)), ...init.params?.query },
  };
  return [path, { ...init, params }];
}
