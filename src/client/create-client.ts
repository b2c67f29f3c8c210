import type { Client, Middleware } from 'openapi-fetch';
import createFetchClient from 'openapi-fetch';
import type { ClientOptions } from './client-options.js';
import { toSendSettings } from './client-options.js';
import { sendWithRetries } from './retry.js';
import { revisionCheck } from './revision.js';
import { findEnvironmentToken, toAuthorization } from './token.js';

/** What a generated client knows of its service. */
export interface ServiceContract {
  /** Absolute, or in a browser also relative to the page; slashes at the end are cut. */
  readonly baseUrl: string;
  /** The contract's revision that the types were generated from. */
  readonly revision: string;
  /** Names the client in warnings and errors. */
  readonly product: string;
  /** The environment variable that holds the token when no option does. */
  readonly tokenVariable: string;
}

/**
 * A contract's types with lists that can be written to: openapi-fetch knows
 * no other, and makes an object with numbered members of a readonly one.
 */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { [Name in keyof T]: Writable<T[Name]> }
    : T;

/** The verbs `GET`, `POST`, … typed by the contract's paths, each answering `{ data, error, response }`. */
export type ServiceClient<Paths extends object> = Client<Writable<Paths> & object> & {
  /** The contract's revision that the types were generated from. */
  readonly revision: string;
};

/**
 * Makes a client that retries, times out and sends its token by itself.
 *
 * A refusal is returned in `error`, see `decodeError`; only the network's
 * failure (after retries), a timeout and an abort are thrown.
 *
 * @throws TypeError for an address or a token that can't be sent, RangeError for a setting out of bounds.
 */
export function createClient<Paths extends object>(
  contract: ServiceContract,
  options: ClientOptions = {},
): ServiceClient<Paths> {
  const settings = toSendSettings(options);
  const streamed = new WeakSet<Request>();
  const client = createFetchClient<Writable<Paths> & object>({
    baseUrl: toBaseUrl(contract),
    headers: toAuthorization(options.token ?? findEnvironmentToken(contract.tokenVariable)),
    fetch: (request) => sendWithRetries(request, settings, streamed.has(request)),
  });
  const checkRevision = revisionCheck(contract, options.onWarning ?? ((message) => console.warn(message)));
  client.use({
    onRequest: ({ request, options: { parseAs } }) => {
      if (parseAs === 'stream') streamed.add(request);
    },
    onResponse: ({ response }) => checkRevision(response),
  } satisfies Middleware);
  return Object.assign(client, { revision: contract.revision });
}

/** `localhost:4000` would be read as the scheme `localhost:`, and fail as if the network did. */
function toBaseUrl({ product, baseUrl }: ServiceContract): string {
  if (!/^(?:https?:\/\/|\/|$)/i.test(baseUrl)) {
    throw new TypeError(`${product}: expected an address such as http://localhost:4000; received "${baseUrl}".`);
  }
  return baseUrl.replace(/\/+$/, '');
}
