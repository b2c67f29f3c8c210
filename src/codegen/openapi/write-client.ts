import type { Contract } from './contract.js';
import { pascal, toStringLiteral } from './names.js';

/** `TRELLIS_TOKEN` contains an API token of a user. Other services have variables of their own. */
const TOKEN_VARIABLES: Readonly<Record<string, string>> = { dashboard: 'TRELLIS_TOKEN' };

/** The other exports that users of the client need, as the file is the entry point of the client package. */
const EXPORTS = `export type { ClientOptions } from '../../client/create-client.js';
export { ApiError, decodeError } from '../../client/errors.js';
export type { StreamEvent, StreamInit, StreamOptions } from '../../client/events.js';
export { readEvents } from '../../client/events.js';
export type { PageAfterQuery, PageQuery } from '../../client/paging.js';
export { readAll, readAllAfter } from '../../client/paging.js';
export type { RetryEvent, RetrySettings } from '../../client/retry.js';
export type { components, operations, paths } from './types.js';
`;

/** Writes `client.ts`: the function that creates a client of the service, and related exports. */
export function writeClient({ service, title, basePath, revision }: Contract): string {
  const name = pascal(service);
  const variable = TOKEN_VARIABLES[service] ?? `TRELLIS_${service.toUpperCase()}_TOKEN`;
  return `import { type ClientOptions, createClient, type ServiceClient } from '../../client/create-client.js';
import type { paths } from './types.js';

${EXPORTS}
/** Identifies the contract that this client was generated from. */
export const revision = ${toStringLiteral(revision)};

/** The environment variable that the token is read from unless an option sets it. */
export const TOKEN_ENV_VAR = ${toStringLiteral(variable)};

/** A client of ${title} with the functions \`GET\`, \`POST\`, …, typed by the paths of the contract. */
export type ${name}Client = ServiceClient<paths>;

/**
 * Creates a client of ${title}.
 *
 * @param baseUrl The URL of the service, such as \`http://localhost:4000${basePath}\`. Trailing slashes are removed.
 */
export function create${name}Client(baseUrl: string, options: ClientOptions = {}): ${name}Client {
  const contract = { baseUrl, revision, product: ${toStringLiteral(title)}, tokenVariable: TOKEN_ENV_VAR };
  return createClient<paths>(contract, options);
}
`;
}
