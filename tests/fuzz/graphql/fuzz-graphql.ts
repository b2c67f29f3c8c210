import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { openWire, toCurl, type WireRequest, type WireResponse } from '../contract/wire.js';
import { createProblems, runAll, SEED } from '../runs.js';
import { findBodyProblem, findDataProblem, findExecutable, GRAPHQL_TYPE, type GraphqlBody } from './check-response.js';
import { corruptDocument, generateDocument, type GeneratedDocument } from './documents.js';
import { createRandom, type Random } from './random.js';

/** The number of documents generated at a time. */
const CHUNK = 100;

/** The share of corrupted documents; the others are valid. */
const BROKEN_SHARE = 0.3;

/** The number of characters of a response in a report. */
const MAX_SHOWN = 600;

/** Longer queries are sent in a body. */
const MAX_URL_CHARACTERS = 12_000;

export interface GraphqlFuzzResult {
  /** The responses that violate the schema or the specification; empty if all match. */
  readonly report: string;
  readonly documentsPerSecond: number;
  /** The number of valid documents, and of those whose response has data. */
  readonly valid: number;
  readonly answered: number;
}

/** Sends generated documents to the GraphQL endpoint and checks every response against the schema. */
export async function fuzzGraphql(origin: string, count: number): Promise<GraphqlFuzzResult> {
  const schema = buildSchema(
    readFileSync(new URL('../../../src/generated/site/schema.graphql', import.meta.url), 'utf8'),
  );
  const wire = openWire(origin);
  const problems = createProblems();
  const totals = { valid: 0, answered: 0 };

  const exchange = async (random: Random): Promise<void> => {
    const valid = generateDocument(schema, random);
    const document = random.chance(BROKEN_SHARE) ? corruptDocument(valid, random) : valid;
    const request = toRequest(document, random);
    const report = (problem: string, response = ''): void =>
      problems.add(problem, '/graphql', `${toCurl(origin, request)}\n  ${response.slice(0, MAX_SHOWN)}`);
    let response: WireResponse;
    try {
      response = await wire.send(request);
    } catch (error) {
      report(String(error));
      return;
    }
    const executable = findExecutable(schema, document);
    const body = parse(response.text);
    const problem = findHttpProblem(request, response) ?? (body === undefined ? 'no JSON' : findBodyProblem(body));
    if (problem !== undefined) report(problem, response.text);
    if (problem !== undefined || body === undefined || !isExecutable(request)) return;
    if (executable === undefined) {
      if (body.data !== undefined) report('data for a document that is not valid', response.text);
      return;
    }
    totals.valid += 1;
    if (body.data === undefined || body.data === null) {
      if (!isServerError(body)) report(`no data for a valid document: ${messageOf(body)}`, response.text);
      return;
    }
    totals.answered += 1;
    const difference = findDataProblem(schema, executable, body.data);
    if (difference !== undefined) report(`data that does not fit: ${difference}`, response.text);
  };

  const startedAt = performance.now();
  for (let sent = 0; sent < count; sent += CHUNK) {
    const seeds = Array.from({ length: Math.min(CHUNK, count - sent) }, (_, index) => SEED * 31 + sent + index);
    await runAll(seeds, (seed) => exchange(createRandom(seed)));
  }
  wire.close();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { ...totals, report: problems.report(), documentsPerSecond: Math.round(count / seconds) };
}

const ACCEPTS: readonly (string | undefined)[] = [
  ...[GRAPHQL_TYPE, GRAPHQL_TYPE, GRAPHQL_TYPE, 'application/json', '*/*', undefined],
  `${GRAPHQL_TYPE}; charset=utf-8, application/json; charset=utf-8; q=0.9`,
  'application/json;q=0.1, application/*;q=0.2',
  'image/png',
];

function toRequest({ query, variables, operationName }: GeneratedDocument, random: Random): WireRequest {
  const accept = random.pick(ACCEPTS);
  const headers = {
    ...(accept === undefined ? {} : { Accept: accept }),
    ...(random.chance(0.02) ? { 'Sec-Fetch-Site': 'cross-site' } : {}),
  };
  const target = random.pick(['/graphql', '/graphql', '/graphql', '/___graphql']);
  const members = { query, variables, operationName };
  if (random.chance(0.15)) {
    const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
    if (operationName !== undefined) search.set('operationName', operationName);
    const url = `${target}?${search.toString()}`;
    if (url.length < MAX_URL_CHARACTERS) return { method: 'GET', target: url, headers };
  }
  const odd = random.chance(0.06) ? random.pick(ODD_BODIES) : undefined;
  const type = random.chance(0.02) ? 'text/plain' : 'application/json';
  const body = Buffer.from(odd ?? JSON.stringify(members));
  const method = random.chance(0.01) ? random.pick(['PUT', 'DELETE', 'PATCH']) : 'POST';
  return { method, target, headers: { ...headers, 'Content-Type': type }, body, isChunked: random.chance(0.1) };
}

const ODD_BODIES = [
  ...['', '{', 'null', '[]', '"text"', '{}', '{"query":1}', '{"query":null}', '[{"query":"{ __typename }"}]'],
  '{"query":"{ __typename }","variables":[]}',
  '{"query":"{ __typename }","operationName":1}',
  '{"query":"{ __typename }","extensions":"x"}',
  '{"query":""}',
  `{"query":"${'{ a '.repeat(5_000)}"}`,
  `{"query":"{ __typename }","x":"${'x'.repeat(1_100_000)}"}`,
];

/** Returns whether the request asks the endpoint to execute the generated document. */
function isExecutable({ method, headers, body }: WireRequest): boolean {
  if (headers.Accept === 'image/png' || 'Sec-Fetch-Site' in headers) return false;
  if (method === 'GET') return true;
  const isJson = headers['Content-Type'] === 'application/json';
  return method === 'POST' && isJson && body !== undefined && !ODD_BODIES.includes(body.toString());
}

function findHttpProblem({ headers: { Accept } }: WireRequest, { status, headers }: WireResponse): string | undefined {
  if (status >= 500) return `status ${status}`;
  if (headers['x-request-id'] === undefined) return 'the header X-Request-Id is missing';
  const isGraphql = typeof Accept === 'string' && Accept.startsWith(GRAPHQL_TYPE);
  const expected = `${isGraphql ? GRAPHQL_TYPE : 'application/json'}; charset=utf-8`;
  if (headers['content-type'] !== expected) return `content type ${String(headers['content-type'])}`;
  const known = [200, 400, 403, 405, 406, 413, 415];
  return known.includes(status) ? undefined : `status ${status}`;
}

/**
 * Returns whether all errors are from limits of the server or from resolvers. Messages of graphql-js start differently.
 */
function isServerError({ errors = [] }: GraphqlBody): boolean {
  return errors.every(({ message, path, extensions }) => {
    const mayBeFromGraphqlJs = path === undefined && extensions?.code === 'invalid_input';
    return !mayBeFromGraphqlJs || /^(Expected|The document) /.test(String(message));
  });
}

const messageOf = ({ errors = [] }: GraphqlBody): string => String(errors[0]?.message).slice(0, 200);

function parse(text: string): GraphqlBody | undefined {
  try {
    const body = JSON.parse(text) as GraphqlBody | null;
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
