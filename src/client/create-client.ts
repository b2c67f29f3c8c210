import type { Client, Middleware } from 'openapi-fetch';
import createFetchClient from 'openapi-fetch';
import type { ClientOptions } from './client-options.js';
import { resolveOptions } from './client-options.js';
import { fetchWithRetry } from './retry.js';
import { createRevisionCheck } from './revision.js';
import { findEnvironmentToken, toAuthorization } from './token.js';

/** The properties of a service that its generated client contains. */
export interface ServiceContract {
  /** An absolute URL, or in browsers also a path. Trailing slashes are removed. */
  readonly baseUrl: string;
  /** The revision of the contract that the types are generated from. */
  readonly revision: string;
  /** Names the client in warnings and errors. */
  readonly product: string;
  /** The environment variable with the token, used when the option is omitted. */
  readonly tokenVariable: string;
}

/**
 * The types of a contract with mutable arrays, as openapi-fetch maps readonly arrays to objects with numeric keys.
 */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { [Name in keyof T]: Writable<T[Name]> }
    : T;

/** The methods `GET`, `POST`, …, typed by the contract. Each resolves to `{ data, error, response }`. */
export type ServiceClient<Paths extends object> = Client<Writable<Paths> & object> & {
  /** The revision of the contract that the types are generated from. */
  readonly revision: string;
};

/**
 * Creates a client with authentication, timeouts and retries.
 *
 * Its methods return error responses in `error`, see `decodeError`. They throw only for network errors and timeouts
 * after the last retry, and for aborts.
 *
 * @throws TypeError for an invalid base URL or token, RangeError for a number out of bounds.
 */
export function createClient<Paths extends object>(
  contract: ServiceContract,
  options: ClientOptions = {},
): ServiceClient<Paths> {
  const settings = resolveOptions(options);
  const streamed = new WeakSet<Request>();
  const client = createFetchClient<Writable<Paths> & object>({
    baseUrl: toBaseUrl(contract),
    headers: toAuthorization(options.token ?? findEnvironmentToken(contract.tokenVariable)),
    fetch: (request) => fetchWithRetry(request, settings, streamed.has(request)),
  });
  const checkRevision = createRevisionCheck(contract, options.onWarning ?? ((message) => console.warn(message)));
  client.use({
    onRequest: ({ request, options: { parseAs } }) => {
      if (parseAs === 'stream') streamed.add(request);
    },
    onResponse: ({ response }) => checkRevision(response),
  } satisfies Middleware);
  return Object.assign(client, { revision: contract.revision });
}

/**
 * Rejects `localhost:4000`, which URL parsers read as the scheme `localhost:`, before it fails like a network error.
 */
function toBaseUrl({ product, baseUrl }: ServiceContract): string {
  if (!/^(?:https?:\/\/|\/|$)/i.test(baseUrl)) {
    throw new TypeError(`${product}: expected an address such as http://localhost:4000; received "${baseUrl}".`);
  }
  return baseUrl.replace(/\/+$/, '');
}
