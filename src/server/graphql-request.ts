import type { IncomingMessage } from 'node:http';
import { AppError } from '../core/errors.js';
import { readBody } from './body.js';
import { parseUntrustedJson } from './json.js';
import type { BodySpec } from './operation.js';
import { parseQuery, parseTarget } from './target.js';

/** The members of a well-formed GraphQL-over-HTTP request. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const BODY: BodySpec = {
  required: true,
  contentTypes: ['application/json'],
  // Documents are limited to a few thousand tokens; most of this is for variables such as long lists of ids.
  maxBytes: 1024 * 1024,
};

/**
 * Reads a GraphQL-over-HTTP request: the query string of a GET, or the JSON body of a POST.
 *
 * @throws AppError with the status that the specification requires.
 */
export async function readGraphqlRequest(request: IncomingMessage): Promise<GraphqlRequest> {
  requireOwnOrigin(request);
  if (request.method === 'GET') return toRequest(readSearch(request.url ?? ''));
  if (request.method === 'POST') return toRequest(await readMembers(request));
  throw new AppError('method_not_allowed', `Expected GET or POST; received ${String(request.method)}.`, {
    headers: { Allow: 'GET, POST, OPTIONS' },
  });
}

/**
 * Rejects requests that a browser sends for a page of a different origin. Images, scripts, styles, frames and `fetch`
 * would let any page start queries on a server that only its visitor can reach. A different port of the same host is
 * `same-site` and rejected as well. Links to a `document` are allowed, and so are clients without these headers.
 *
 * @throws AppError `cross_site`
 */
function requireOwnOrigin({ headers }: IncomingMessage): void {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers;
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (!isForeign || destination === 'document') return;
  throw new AppError(
    'cross_site',
    `A page of a different origin sent this request (Sec-Fetch-Site: ${site}). Send queries from a page of this server, or from a client other than a browser.`,
  );
}

function readSearch(url: string): Members {
  const parameters = parseQuery(parseTarget(url).query);
  const read = (name: string) => {
    const [value, ...more] = parameters.get(name) ?? [];
    if (more.length > 0) throw invalid(name, `Expected "${name}" once; received it ${more.length + 1} times.`);
    return value;
  };
  return {
    query: read('query'),
    operationName: read('operationName'),
    variables: parseMember('variables', read('variables')),
    extensions: parseMember('extensions', read('extensions')),
  };
}

function parseMember(name: string, text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return parseUntrustedJson(Buffer.from(text));
  } catch (cause) {
    throw invalid(name, `Expected "${name}" to be a JSON object; received text that is not JSON.`, cause);
  }
}

async function readMembers(request: IncomingMessage): Promise<Members> {
  const body = await readBody(request, BODY);
  if (isMap(body)) return body;
  const received = Array.isArray(body) ? 'an array (batches are not supported)' : describe(body);
  throw new AppError('malformed_body', `Expected a JSON object with a "query"; received ${received}.`);
}

function toRequest({ query, operationName, variables, extensions }: Members): GraphqlRequest {
  if (typeof query !== 'string') throw expected('query', 'a string with a GraphQL document', query);
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    throw expected('operationName', 'a string', operationName);
  }
  if (!isAbsent(variables) && !isMap(variables)) throw expected('variables', 'an object', variables);
  if (!isAbsent(extensions) && !isMap(extensions)) throw expected('extensions', 'an object', extensions);
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the type of a JSON value in words: `null`, `an array`, `a number`, … */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const expected = (field: string, what: string, received: unknown) =>
  invalid(field, `Expected "${field}" to be ${what}; received ${describe(received)}.`);

const invalid = (field: string, message: string, cause?: unknown) =>
  new AppError('invalid_input', message, { field, cause });
