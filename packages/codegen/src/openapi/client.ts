import { pascal, printModules, toStringLiteral } from '../output.js';
import type { Contract } from './contract.js';
import type { ServiceConfig, ServiceModules } from './preset.js';

/** Writes `client.ts`: the function that creates a client of the service, and related exports. */
export function writeClient(
  { title, basePath, revision }: Contract,
  { service, tokenVariable, modules }: ServiceConfig,
): string {
  const name = pascal(service);
  return `${printModules('import', [
    [modules.client, 'createClient', 'type ServiceClient'],
    [modules.clientOptions, 'type ClientOptions'],
    ['./types.js', 'type paths'],
  ])}
${printModules('export', listClientExports(modules))}
/** Identifies the contract that this client was generated from. */
export const revision = ${toStringLiteral(revision)};

/** The environment variable that the token is read from unless an option sets it. */
export const TOKEN_ENV_VAR = ${toStringLiteral(tokenVariable)};

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

/** Lists the other exports that users of a client need, as the file is the entry point of the client package. */
const listClientExports = (modules: ServiceModules): Parameters<typeof printModules>[1] => [
  [modules.clientOptions, 'type ClientOptions'],
  [modules.clientErrors, 'ApiError', 'decodeError'],
  [modules.clientEvents, 'readEvents', 'type StreamEvent', 'type StreamInit', 'type StreamOptions'],
  [modules.clientPaging, 'readAll', 'readAllAfter', 'type PageAfterQuery', 'type PageQuery'],
  [modules.clientRetry, 'type RetryEvent', 'type RetrySettings'],
  ['./types.js', 'type components', 'type operations', 'type paths'],
];
