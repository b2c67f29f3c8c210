import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { buildSchema, execute } from 'graphql';
import { createGraphqlEndpoint } from '../../src/graphql/endpoint.js';
import { createLog } from '../../src/http/request.js';
import { createHttpServer } from '../../src/http/server.js';

const schema = buildSchema(
  'type Query { count: Int!, text: String!, clock: Int, broken: Int } type Mutation { count: Int }',
);

let version = 1;
let generation = 1;
/** The generation in which each part of the data has changed. */
const changedIn = new Map<string, number>();
let executions = 0;
let admissions = 0;
const TEXT = 'ü'.repeat(3_000);
const roots = {
  count: () => (executions += 1),
  text: () => TEXT,
  clock: () => (executions += 1),
  broken: () => {
    executions += 1;
    throw new Error('broken');
  },
};

const names: (string | undefined)[] = [];
const endpoint = createGraphqlEndpoint({
  schema,
  introspection: true,
  limits: { values: 1000, workMs: 20_000, timeoutMs: 2_000 },
  createContext: () => ({}),
  execute: (args) => execute({ ...args, rootValue: roots }),
  report: () => undefined,
  admit(_request, _response, headers) {
    admissions += 1;
    headers.setHeader('X-Admission', String(admissions));
    return undefined;
  },
  onOperation: (_response, name) => void names.push(name),
  reuse: {
    getVersion: () => version,
    getGeneration: () => generation,
    unchangedSince: (parts = [...changedIn.keys()]) => Math.max(0, ...parts.map((part) => changedIn.get(part) ?? 0)),
    repeatable: {
      rule: () => ({}),
      has: ({ loc }) => !loc?.source.body.includes('clock'),
      kindsOf: (_document, { name }) => name?.value.split('_'),
    },
    cacheControl: { kept: 'public, s-maxage=9', other: 'public, no-cache' },
  },
});
const server = createHttpServer((request, response) => endpoint(request, response, 'r-1', ['X-Request-Id', 'r-1']), {
  log: createLog({ level: 'silent' }),
});
let port: number;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  version += 1;
  executions = 0;
});

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Sends a request without decoding the response, as `fetch` would. */
function send(path: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
  const method = body === undefined ? 'GET' : 'POST';
  const all = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, path, method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    request.on('error', reject).end(body);
  });
}

const get = (query: string, headers?: Record<string, string>) =>
  send(`/graphql?query=${encodeURIComponent(query)}`, headers);

const post = (query: string, more: object = {}) => send('/graphql', {}, JSON.stringify({ query, ...more }));

/** Sends the same request twice, so that its response is stored. */
async function repeat(query: string, more?: object): Promise<void> {
  await post(query, more);
  await post(query, more);
}

const dataOf = ({ bytes }: Reply): unknown => (JSON.parse(bytes.toString()) as { data: unknown }).data;

describe('a response that is kept', () => {
  test.each(['GET', 'POST'])('answers an equal %s without another execution, but with admission', async (method) => {
    const ask = method === 'GET' ? get : (query: string) => post(query);
    await ask(`query Total { ${method}: count }`);
    const before = admissions;
    const second = await ask(`query Total { ${method}: count }`);
    const third = await ask(`query Total { ${method}: count }`);
    expect([dataOf(second), dataOf(third), executions]).toEqual([{ [method]: 2 }, { [method]: 2 }, 2]);
    expect(third.headers).toMatchObject({ 'x-request-id': 'r-1', 'x-admission': String(before + 2) });
    expect(names.slice(-2)).toEqual(['Total', 'Total']);
  });

  test('is not that of a request that was sent once', async () => {
    expect(dataOf(await post('{ once: count }'))).toEqual({ once: 1 });
    expect(dataOf(await post('{ once: count }'))).toEqual({ once: 2 });
  });

  test('is made again when the data has a new version', async () => {
    await repeat('{ count }');
    expect(executions).toBe(2);
    version += 1;
    expect(dataOf(await post('{ count }'))).toEqual({ count: 3 });
  });

  test('is made again when a part of the data changes that it was made from', async () => {
    const change = (part: string): void => void changedIn.set(part, (generation += 1));
    const ask = async (query: string) => dataOf(await post(query));
    await repeat('query File_Post { count }');
    await repeat('query File { count }');
    await repeat('{ any: count }');
    expect(executions).toBe(6);
    change('Post');
    expect(await ask('query File_Post { count }')).toEqual({ count: 7 });
    expect(await ask('query File { count }')).toEqual({ count: 4 });
    expect(await ask('{ any: count }')).toEqual({ any: 8 });
    change('Image');
    expect(await ask('query File_Post { count }')).toEqual({ count: 7 });
    expect(await ask('{ any: count }')).toEqual({ any: 9 });
  });

  test('is not kept when the data changed during its execution', async () => {
    await post('{ changing: count }');
    const reply = post('{ changing: count }');
    const unchanged = roots.count;
    roots.count = () => {
      version += 1;
      return unchanged();
    };
    await reply;
    roots.count = unchanged;
    await post('{ changing: count }');
    expect(executions).toBe(3);
  });

  test.each([
    ['whose result depends on more than the data', '{ clock }'],
    ['with errors', '{ broken }'],
    ['of a mutation', 'mutation { count }'],
  ])('is not one %s', async (_reason, query) => {
    await repeat(query);
    await post(query);
    expect(executions).toBe(3);
  });

  test('differs by variables, by operation and by media type', async () => {
    await repeat('query A { count } query B { a: count }', { operationName: 'A' });
    const b = await post('query A { count } query B { a: count }', { operationName: 'B' });
    expect(dataOf(b)).toEqual({ a: 3 });
    await repeat('query ($x: Boolean!) { count @skip(if: $x) __typename }', { variables: { x: false } });
    const skipped = await post('query ($x: Boolean!) { count @skip(if: $x) __typename }', { variables: { x: true } });
    expect(dataOf(skipped)).toEqual({ __typename: 'Query' });
    const type = 'application/graphql-response+json';
    await get('{ count }');
    const [json, graphql] = [await get('{ count }'), await get('{ count }', { accept: type })];
    expect(graphql.headers['content-type']).toBe(`${type}; charset=utf-8`);
    expect(graphql.headers.etag).not.toBe(json.headers.etag);
  });

  test('is not found by a POST whose body is the URL of a GET', async () => {
    await get('{ count }');
    await get('{ count }');
    expect((await send('/graphql', {}, `/graphql?query=${encodeURIComponent('{ count }')}`)).status).toBe(400);
  });

  test('has the same bytes in each encoding, as text and compressed', async () => {
    const expected = JSON.stringify({ data: { text: TEXT } });
    for (const _round of [1, 2, 3]) {
      const plain = await get('{ text }');
      const compressed = await get('{ text }', { 'accept-encoding': 'br' });
      expect(plain.bytes.toString()).toBe(expected);
      expect(plain.headers['content-length']).toBe(String(Buffer.byteLength(expected)));
      expect(compressed.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept, Accept-Encoding' });
      expect(brotliDecompressSync(compressed.bytes).toString()).toBe(expected);
      expect(compressed.headers.etag).toBe(`W/${String(plain.headers.etag)}`);
    }
  });
});

describe('a GET', () => {
  test('with a matching ETag gets 304 without a body', async () => {
    const { headers } = await get('{ text }');
    const condition = { 'if-none-match': String(headers.etag) };
    for (const more of [{}, { 'accept-encoding': 'gzip' }] as Record<string, string>[]) {
      const reply = await get('{ text }', { ...condition, ...more });
      expect([reply.status, reply.bytes.length]).toEqual([304, 0]);
      expect(reply.headers).toMatchObject({ 'cache-control': 'public, s-maxage=9', vary: 'Accept, Accept-Encoding' });
      expect(reply.headers['content-length']).toBeUndefined();
    }
    expect((await get('{ count }', condition)).status).toBe(200);
  });

  test('may be reused by caches only as far as its result repeats', async () => {
    expect((await get('{ count }')).headers['cache-control']).toBe('public, s-maxage=9');
    expect((await get('{ clock }')).headers).toMatchObject({
      'cache-control': 'public, no-cache',
      etag: expect.any(String) as string,
    });
    expect((await get('{ broken }')).headers).toMatchObject({ 'cache-control': 'private, no-cache' });
    expect((await post('{ count }')).headers).toMatchObject({ 'cache-control': 'private, no-cache' });
  });
});
