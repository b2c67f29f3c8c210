import type { Contract } from './contract.js';
import { pascal, quote } from './names.js';

/** The variable that people know for personal tokens; a service with tokens of another kind has its own. */
const TOKEN_VARIABLES: Readonly<Record<string, string>> = { dashboard: 'TRELLIS_TOKEN' };

/** What whoever has the client needs beside it: the file is what the package of the client gives. */
const EXPORTS = `export type { ClientOptions } from '../../client/client-options.js';
export { ApiError, decodeError } from '../../client/errors.js';
export type { StreamEvent, StreamInit, StreamOptions } from '../../client/events.js';
export { readEvents } from '../../client/events.js';
export type { Page, PageAfter } from '../../client/paging.js';
export { readAll, readAllAfter } from '../../client/paging.js';
export type { RetryNotice, RetrySettings } from '../../client/retry.js';
export type { components, operations, paths } from './types.js';
`;

/** The function that makes a client of the service, and what is used with it. */
export function writeClient({ service, title, basePath, revision }: Contract): string {
  const name = pascal(service);
  const variable = TOKEN_VARIABLES[service] ?? `TRELLIS_${service.toUpperCase()}_TOKEN`;
  return `import type { ServiceClient } from '../../client/create-client.js';
import { createClient } from '../../client/create-client.js';
import type { ClientOptions } from '../../client/client-options.js';
import type { paths } from './types.js';

${EXPORTS}
/** Names the contract that these types were made from. */
export const revision = ${quote(revision)};

/** The environment variable that holds the token when no option does. */
export const TOKEN_ENV_VAR = ${quote(variable)};

/** A client of ${title}: \`GET\`, \`POST\`, … typed by the contract's paths. */
export type ${name}Client = ServiceClient<paths>;

/**
 * Makes a client of ${title}.
 *
 * @param baseUrl Where the service is, such as \`http://localhost:4000${basePath}\`; slashes at the end are cut.
 */
export function create${name}Client(baseUrl: string, options: ClientOptions = {}): ${name}Client {
  const contract = { baseUrl, revision, product: ${quote(title)}, tokenVariable: TOKEN_ENV_VAR };
  return createClient<paths>(contract, options);
}
`;
}
