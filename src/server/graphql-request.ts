import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';
import { describe, isMap, readJsonBody } from './graphql-body.js';

/** The members of a well-formed GraphQL-over-HTTP request. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

type Members = Readonly<Record<string, unknown>>;

/** Filters nest a few levels for every relation they cross; thirty leaves room and keeps recursion over them short. */
const MAX_VARIABLE_DEPTH = 30;

/**
 * Reads a request as the GraphQL-over-HTTP specification has it: the query
 * string of a GET, the JSON body of a POST.
 *
 * @throws AppError with the status that the specification asks for.
 */
export async function readGraphqlRequest(request: IncomingMessage): Promise<GraphqlRequest> {
  if (request.method === 'GET') return toRequest(readSearch(request.url ?? ''));
  if (request.method === 'POST') return toRequest(await readJsonBody(request));
  const received = request.method ?? 'no method';
  throw new AppError('method_not_allowed', `Expected GET or POST; received ${received}.`, {
    headers: { Allow: 'GET, POST' },
  });
}

function readSearch(url: string): Members {
  const start = url.indexOf('?');
  const search = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  const read = (name: string) => {
    const [value, ...more] = search.getAll(name);
    if (more.length > 0) throw invalid(name, `Expected "${name}" once; received it ${more.length + 1} times.`);
    return value;
  };
  return {
    query: read('query'),
    operationName: read('operationName'),
    variables: parseParameter('variables', read('variables')),
    extensions: parseParameter('extensions', read('extensions')),
  };
}

function parseParameter(name: string, text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(name, `Expected "${name}" to be a JSON object; received text that is not JSON.`, cause);
  }
}

function toRequest({ query, operationName, variables, extensions }: Members): GraphqlRequest {
  if (typeof query !== 'string') throw expected('query', 'a string holding a GraphQL document', query);
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    throw expected('operationName', 'a string', operationName);
  }
  if (!isAbsent(variables) && !isMap(variables)) throw expected('variables', 'an object', variables);
  if (!isAbsent(extensions) && !isMap(extensions)) throw expected('extensions', 'an object', extensions);
  if (isDeeper(variables, MAX_VARIABLE_DEPTH)) {
    throw invalid('variables', `Expected variables at most ${MAX_VARIABLE_DEPTH} levels deep; received deeper ones.`);
  }
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Stops at the bound, so that its own recursion is bounded too. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

const expected = (field: string, what: string, received: unknown) =>
  invalid(field, `Expected "${field}" to be ${what}; received ${describe(received)}.`);

const invalid = (field: string, message: string, cause?: unknown) =>
  new AppError('invalid_input', message, { field, cause });
