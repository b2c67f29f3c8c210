import type { SchemaObject } from '@trellis/codegen/openapi/contract';
import fc from 'fast-check';
import { generateCorrupted } from './corrupt.js';
import type { FuzzedContract, FuzzedOperation, FuzzedParameter } from './document.js';
import { generateValues, type SchemaSource } from './schema-values.js';
import { SeenValue } from './seen-values.js';

/** A request whose seen values and credential are not filled in yet. */
export interface RequestPlan {
  readonly operation: FuzzedOperation;
  /** Usually the method of the operation. */
  readonly method: string;
  readonly path: Readonly<Record<string, unknown>>;
  /** Pairs of names and values, because names may repeat. */
  readonly query: readonly (readonly [string, unknown])[];
  /** Appended unchanged to the path and to the query. */
  readonly tail: { readonly path: string; readonly query: string };
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: BodyPlan | undefined;
  readonly credential: string;
  readonly isChunked: boolean;
}

export type BodyPlan =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'signed'; readonly value: unknown }
  | { readonly kind: 'raw'; readonly bytes: Buffer; readonly type: string | undefined };

export interface RequestOptions {
  readonly contract: FuzzedContract;
  readonly hints: SchemaSource['hints'];
  /** Additional bodies by operation, which are not generated from the schema. */
  readonly bodies: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  /** The names of credentials that an operation admits, and of all others. */
  readonly credentials: {
    readonly fitting: (operation: FuzzedOperation) => readonly string[];
    readonly all: readonly string[];
  };
}

/** Generates requests for all operations of a contract with equal probability. About half are meant to succeed. */
export function generateRequests(options: RequestOptions): fc.Arbitrary<RequestPlan> {
  return fc.oneof(...options.contract.operations.map((operation) => requestOf(operation, options)));
}

function requestOf(operation: FuzzedOperation, options: RequestOptions): fc.Arbitrary<RequestPlan> {
  const { contract, hints, credentials } = options;
  const source: SchemaSource = { schemas: contract.document.components?.schemas ?? {}, hints, tag: operation.tag };
  const own = operation.method.toUpperCase();
  return fc.record({
    operation: fc.constant(operation),
    method: seldom(fc.constant(own), fc.constantFrom(...METHODS_TRIED), own === 'GET' ? 12 : 40),
    path: parametersIn('path', operation, source).map(Object.fromEntries),
    query: parametersIn('query', operation, source).chain(withOddQuery),
    tail: fc.record({
      path: seldom(fc.constant(''), fc.constantFrom(...PATH_TAILS), 30),
      query: seldom(fc.constant(''), fc.constantFrom(...QUERY_TAILS), 15),
    }),
    headers: fc
      .tuple(parametersIn('header', operation, source), seldom(fc.constant({}), ODD_HEADERS, 5))
      .map(([named, odd]) => ({ ...Object.fromEntries(named), ...odd })),
    body: bodyOf(operation, { source, bodies: options.bodies }),
    credential: seldom(fc.constantFrom(...credentials.fitting(operation)), fc.constantFrom(...credentials.all), 4),
    isChunked: seldom(fc.constant(false), fc.constant(true), 8),
  });
}

/** Generates the second alternative with a probability of 1 in `times`. */
function seldom<A, B>(often: fc.Arbitrary<A>, rare: fc.Arbitrary<B>, times: number): fc.Arbitrary<A | B> {
  return fc.oneof<{ weight: number; arbitrary: fc.Arbitrary<A | B> }[]>(
    { weight: times - 1, arbitrary: often },
    { weight: 1, arbitrary: rare },
  );
}

const METHODS_TRIED = ['GET', 'HEAD', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

const PATH_TAILS = [
  '%ff',
  '%zz',
  '%',
  '%00',
  '%c0%af',
  '/',
  '//',
  '/..',
  '/%2e%2e',
  ';a=b',
  '.json',
  'x'.repeat(9_000),
];

const QUERY_TAILS = [
  '%ff',
  '%zz=1',
  'a=%00',
  '=&=&&=',
  '__proto__=1&constructor=2',
  'limit=1&limit=2',
  'limit=',
  'limit=1e3&offset=-1',
  'id[]=1&id[a]=2',
  `a=${'x'.repeat(17_000)}`,
  'a=1&'.repeat(3_000),
  'owner=%F0%9F%92%A5&view=%E2%80%AE',
];

const ODD_HEADERS: fc.Arbitrary<Record<string, unknown>> = fc.constantFrom<Record<string, unknown>[]>(
  { Accept: 'image/png' },
  { Accept: 'application/json;q=0' },
  { Accept: 'text/*;q=0.1, */*;q=0' },
  { Accept: ',;q=,' },
  { Accept: '*/*' },
  { Range: 'bytes=0-1' },
  { 'Accept-Encoding': 'br;q=1, gzip, identity;q=0' },
  { 'If-None-Match': '*' },
  { 'If-None-Match': '"a", W/"b"' },
  { 'If-Match': '*' },
  { 'If-Match': 'no-etag' },
  { 'If-Match': '"0".repeat' },
  { 'If-Modified-Since': 'yesterday' },
  { 'Idempotency-Key': '' },
  { 'Idempotency-Key': 'reused' },
  { 'Idempotency-Key': 'x'.repeat(256) },
  { 'Idempotency-Key': 'a b' },
  { 'Idempotency-Key': ['first', 'second'] },
  { 'X-Caller': 'x'.repeat(2_000) },
  { 'Last-Event-ID': 'x'.repeat(500) },
  { Expect: '100-continue' },
  { Origin: 'null' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'X-Forwarded-For': '10.0.0.1, 10.0.0.2' },
  { 'X-HTTP-Method-Override': 'DELETE' },
  { Cookie: ['a=b', '__proto__=1'] },
  { 'Content-Encoding': 'gzip' },
  { Authorization: ['Bearer a', 'Bearer b'] },
  { Connection: 'close' },
);

type Pairs = readonly (readonly [string, unknown])[];

function parametersIn(
  place: FuzzedParameter['in'],
  { parameters }: FuzzedOperation,
  source: SchemaSource,
): fc.Arbitrary<Pairs> {
  const each = parameters
    .filter((parameter) => parameter.in === place)
    .map((parameter): fc.Arbitrary<Pairs> => {
      const { name, required, schema = true } = parameter;
      const isList = typeof schema === 'object' && schema.type === 'array';
      const fitting = generateValues(source, schema, place === 'header' ? name.toLowerCase() : name);
      const value = seldom(withExample(fitting, parameter), generateCorrupted(fc.constant('x')), 10);
      // A repeated query parameter is a list.
      const pairs = value.map((one): Pairs => (isList && Array.isArray(one) ? one : [one]).map((item) => [name, item]));
      return required
        ? seldom(pairs, fc.constant([]), place === 'path' ? 1_000_000 : 20)
        : seldom(fc.constant([]), pairs, 3);
    });
  return fc.tuple(...each).map((pairs) => pairs.flat());
}

function withExample(values: fc.Arbitrary<unknown>, { example }: FuzzedParameter): fc.Arbitrary<unknown> {
  return example === undefined ? values : seldom(values, fc.constant(example), 5);
}

/** Repeats a name, or moves it to a different place. */
function withOddQuery(pairs: Pairs): fc.Arbitrary<Pairs> {
  return seldom(fc.constant(pairs), fc.constant([...pairs, ...pairs]), 25);
}

interface BodyOptions extends Pick<RequestOptions, 'bodies'> {
  readonly source: SchemaSource;
}

function bodyOf(operation: FuzzedOperation, { source, bodies }: BodyOptions): fc.Arbitrary<BodyPlan | undefined> {
  const { body, id } = operation;
  const raw = rawBody(body?.maxBytes ?? 1_000);
  if (body === undefined) return seldom(fc.constant(undefined), raw, 20);
  const schema: SchemaObject = body.object.content['application/json']?.schema ?? true;
  const generated = bodies[id] ?? generateValues(source, schema);
  const fitting =
    body.example === undefined ? generated : fc.oneof(generated, variationsOf(body.example, { source, schema }));
  const kind = body.object['x-body'] === 'deferred' ? ('signed' as const) : ('json' as const);
  const toJson = (value: unknown): BodyPlan => ({ kind, value });
  return fc.oneof<{ weight: number; arbitrary: fc.Arbitrary<BodyPlan | undefined> }[]>(
    { weight: 12, arbitrary: fitting.map(toJson) },
    { weight: 5, arbitrary: generateCorrupted(fitting).map(toJson) },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: raw },
  );
}

/** Generates variants of a contract example, with values from the schema or from earlier responses. */
function variationsOf(
  example: unknown,
  { source, schema }: { readonly source: SchemaSource; readonly schema: SchemaObject },
): fc.Arbitrary<unknown> {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return fc.constant(example);
  const fields = Object.entries(example).map(([name, value]) => {
    const seen = fc.nat().map((pick) => new SeenValue({ tag: source.tag, name, pick, otherwise: value }));
    const isScalar = typeof value !== 'object';
    return [name, isScalar ? fc.oneof(fc.constant(value), seen) : fc.constant(value)];
  });
  const varied = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>);
  const isObject = typeof schema === 'object';
  const generated = isObject ? generateValues(source, schema) : fc.constant({});
  return fc.tuple(varied, generated, fc.nat(3)).map(([own, other, count]) => {
    if (typeof other !== 'object' || other === null) return own;
    return { ...own, ...Object.fromEntries(Object.entries(other).slice(0, count)) };
  });
}

const JSON_TYPE = 'application/json';

function rawBody(maxBytes: number): fc.Arbitrary<BodyPlan> {
  const text = (content: string, type: string | undefined = JSON_TYPE): BodyPlan => ({
    kind: 'raw',
    bytes: Buffer.from(content),
    type,
  });
  const bytes = (...content: number[]): BodyPlan => ({ kind: 'raw', bytes: Buffer.from(content), type: JSON_TYPE });
  // A body above the limit takes long to send, so large ones are rare.
  const large = maxBytes > 100_000 ? [] : [text(`{"x":"${'x'.repeat(maxBytes)}"}`)];
  return fc.constantFrom<BodyPlan[]>(
    text(''),
    text('{'),
    text('{"a":1}}'),
    text('null'),
    text('[]'),
    text('"text"'),
    text('1e999'),
    text('{}'),
    text('{"a":1,"a":2}'),
    text('{"__proto__":{"isAdmin":true}}'),
    text('\ufeff{}'),
    text('{"\\ud800":"\\udfff"}'),
    text("{'a': 1}"),
    text('['.repeat(20_000)),
    text('{"a":'.repeat(2_000)),
    bytes(0xff, 0xfe, 0x00),
    bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
    text('{}', 'text/plain'),
    text('{}', undefined),
    text('{}', ''),
    text('{}', 'application/json; charset=latin1'),
    text('{}', 'application/json;charset="utf-8"'),
    text('{}', 'application/x-www-form-urlencoded'),
    text('{}', 'multipart/form-data; boundary=x'),
    text('{}', 'text/plain;application/json'),
    text('{}', 'application/json, text/plain'),
    text('{}', 'x'.repeat(500)),
    ...large,
  );
}
