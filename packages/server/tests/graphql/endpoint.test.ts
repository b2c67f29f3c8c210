import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { AppError } from '@trellis/core/errors';
import { buildSchema, getIntrospectionQuery } from 'graphql';
import type { OperationBudget } from '../../src/graphql/budget.js';
import { createGraphqlEndpoint, type GraphqlOptions } from '../../src/graphql/endpoint.js';
import { addForwardedAddress, createLog } from '../../src/http/request.js';
import { createHttpServer } from '../../src/http/server.js';

const RESULT_TYPE = 'application/graphql-response+json; charset=utf-8';

const schema = buildSchema(`
  enum Colour { RED }
  input Filter { and: Filter, name: String }
  type Item { name: String!, item: Item, colour: Colour, many(values: Int): [Item!]!, wait: String }
  type Query { item(filter: Filter, names: [String]): Item, refuse: Item, break: String, long: String, gone: Item, thing: Thing, busy(seconds: Int): String }
  interface Thing { name: String }
  type Mutation { touch: Boolean }
`);

interface Context {
  budget: OperationBudget;
}

const item = (): object => ({
  name: 'one',
  item,
  colour: 'BLUE',
  many({ values }: { values: number }, { budget }: Context) {
    budget.spend(values);
    return Array.from({ length: Math.max(1, values) }, item);
  },
  wait: () => new Promise((resolve) => setTimeout(resolve, 20_000, 'late').unref()),
});
let longCount = 0;
const roots = {
  item,
  refuse: () => {
    throw new AppError('not_found', 'No item with this name.');
  },
  long: () => {
    longCount += 1;
    return 'x'.repeat(64 * 1024 * 1024);
  },
  break: () => {
    throw new Error('connect /srv/private/site.db');
  },
  gone: () => ({ name: null }),
  thing: () => ({ name: 'unknown' }),
  busy: ({ seconds }: { seconds: number }) => {
    throw new AppError('unavailable', 'Busy.', { headers: { 'Retry-After': String(seconds) } });
  },
  touch: () => true,
};

const reported: unknown[] = [];
const options: GraphqlOptions = {
  schema,
  introspection: true,
  limits: { values: 1000, workMs: 20_000, timeoutMs: 2_000 },
  createContext: (budget) => ({ budget }),
  execute: async (args) => (await import('graphql')).execute({ ...args, rootValue: roots }),
  report: (error) => reported.push(error),
};
const endpoint = createGraphqlEndpoint(options);
const withoutMutations = createGraphqlEndpoint({ ...options, schema: buildSchema('type Query { item: Int }') });
const server = createHttpServer(
  (request, response) => {
    addForwardedAddress(request, 1);
    response.setHeader('X-Request-Id', 'r-1');
    const respond = request.url === '/without-mutations' ? withoutMutations : endpoint;
    respond(request, response, 'r-1');
  },
  { log: createLog({ level: 'silent' }) },
);
let origin: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => void reported.splice(0));

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body: { data?: unknown; errors?: { message: string; extensions: Record<string, unknown>; path?: unknown }[] };
}

/** Uses node:http, because fetch corrects or rejects some of these requests. */
function send(path: string, options: RequestOptions, body: string | Buffer = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(origin + path, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: JSON.parse(text) as Reply['body'],
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const json = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' };
const post = (body: unknown, headers: Record<string, string> = {}) =>
  send(
    '/graphql',
    { method: 'POST', headers: { ...json, ...headers } },
    typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  );
const get = (parameters: Record<string, string>, accept = 'application/graphql-response+json') =>
  send(`/graphql?${new URLSearchParams(parameters)}`, { headers: { Accept: accept } });

describe('GraphQL endpoint', () => {
  describe('a well-formed request', () => {
    test('is accepted by POST and by GET', async () => {
      const answer = { data: { item: { name: 'one' } } };
      const query = 'query A { item { name } } query B { refuse { name } }';
      await expect(post({ query, operationName: 'A' })).resolves.toMatchObject({ status: 200, body: answer });
      await expect(get({ query, operationName: 'A' })).resolves.toMatchObject({ status: 200, body: answer });
    });

    test('may have variables as JSON in a GET', async () => {
      const { body } = await get({
        query: 'query ($n: [String]) { item(names: $n) { name } }',
        variables: '{"n":["a"]}',
      });
      expect(body).toEqual({ data: { item: { name: 'one' } } });
    });

    test('may be the introspection query of GraphiQL', async () => {
      const { body } = await post({ query: getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }) });
      expect(body.errors).toBeUndefined();
    });

    test('uses its own variables with a cached document', async () => {
      const query = 'query ($deep: Boolean!) { item { name item @include(if: $deep) { name } } }';
      const first = await post({ query, variables: { deep: true } });
      const second = await post({ query, variables: { deep: false } });
      expect([first.body.data, second.body.data]).toEqual([
        { item: { name: 'one', item: { name: 'one' } } },
        { item: { name: 'one' } },
      ]);
    });

    test.each([
      ['application/json', 'application/json; charset=utf-8'],
      ['*/*', 'application/json; charset=utf-8'],
      ['application/graphql-response+json', RESULT_TYPE],
      ['application/json;q=0.5, application/graphql-response+json', RESULT_TYPE],
      ['text/html, application/graphql-response+json;q=0.1, application/json;q=0.2', 'application/json; charset=utf-8'],
      ['application/graphql-response+json; charset="UTF-8"', RESULT_TYPE],
    ])('that accepts %s gets a response in %s', async (accept, type) => {
      const { headers } = await post({ query: '{ __typename }' }, { Accept: accept });
      expect(headers['content-type']).toBe(type);
    });
  });

  describe('an error of a resolver', () => {
    test('that is an AppError keeps its message and code', async () => {
      const { status, body } = await post({ query: '{ refuse { name } item { name } }' });
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          data: { refuse: null, item: { name: 'one' } },
          errors: [
            {
              message: 'No item with this name.',
              locations: [{ line: 1, column: 3 }],
              path: ['refuse'],
              extensions: { code: 'not_found', requestId: 'r-1' },
            },
          ],
        },
      });
      expect(reported).toEqual([]);
    });

    test.each([
      ['a thrown error', '{ break }'],
      ['a null that the schema forbids', '{ gone { name } }'],
      ['a value that an enum lacks', '{ item { colour } }'],
      ['an object of an interface, whose type is not known', '{ thing { name } }'],
    ])('that is an internal error (%s) is logged and shown as internal', async (_reason, query) => {
      const { status, body } = await post({ query });
      expect(status).toBe(200);
      expect(body.errors?.[0]).toMatchObject({
        message: 'Internal error in this part of the query. Quote the request id when you report it.',
        extensions: { code: 'internal', requestId: 'r-1' },
      });
      expect(JSON.stringify(body)).not.toMatch(/private|BLUE|stack/);
      expect(reported).toHaveLength(1);
    });
  });

  describe('an operation above its budget', () => {
    test('gets one error with the location, and no data', async () => {
      const { status, body } = await post({
        query: '{ item { name many(values: 2000) { name } item { many(values: 1) { name } } } }',
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        data: null,
        errors: [
          {
            message: expect.stringContaining('The response has more than 1000 values') as string,
            locations: [{ line: 1, column: 15 }],
            path: ['item', 'many'],
            extensions: { code: 'too_large', requestId: 'r-1' },
          },
        ],
      });
      expect(reported).toEqual([]);
    });

    test('of time gets a response before it ends', async () => {
      const { status, body } = await post({ query: '{ item { wait } }' });
      expect(status).toBe(503);
      expect(body.errors?.[0]).toMatchObject({
        message: expect.stringMatching(/^The query exceeded its time limit of 2000 ms/) as string,
        extensions: { code: 'unavailable' },
      });
    });

    test('of one field to wait says when to retry, and has the other fields', async () => {
      const { status, body, headers } = await post({
        query: '{ item { name } busy(seconds: 5) late: busy(seconds: 9) }',
      });
      expect([status, headers['retry-after']]).toEqual([200, '9']);
      expect(body.data).toEqual({ item: { name: 'one' }, busy: null, late: null });
      expect(body.errors?.map(({ path, extensions }) => [path, extensions])).toEqual([
        [['busy'], { code: 'unavailable', requestId: 'r-1' }],
        [['late'], { code: 'unavailable', requestId: 'r-1' }],
      ]);
    });

    test('does not affect other operations', async () => {
      await expect(post({ query: '{ item { many(values: 900) { name } } }' })).resolves.toMatchObject({ status: 200 });
      const { body } = await post({ query: '{ item { many(values: 900) { name } } }' });
      expect(body.errors).toBeUndefined();
    });
  });

  test.each([
    ['responses', json],
    ['streams of events', { accept: 'text/event-stream' }],
  ])(
    'rejects queries of a client that does not read 64 MiB of %s, and all while clients do not read 256 MiB',
    async (_, accept) => {
      const readOne = (client: string): Promise<IncomingMessage> =>
        new Promise((resolve, reject) =>
          httpRequest(
            `${origin}/graphql?query=%7Blong%7D`,
            { headers: { ...accept, 'X-Forwarded-For': client } },
            resolve,
          )
            .on('error', reject)
            .end(),
        );
      const small = (client: string) =>
        send('/graphql?query=%7Bitem%7Bname%7D%7D', { headers: { ...json, 'X-Forwarded-For': client } });
      const unread = [await readOne('2001:db8::1')];
      const { status, headers } = await small('2001:db8::2');
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      await expect(small('192.0.2.1')).resolves.toMatchObject({ status: 200 });
      for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) unread.push(await readOne(client));
      await expect(small('192.0.2.4')).resolves.toMatchObject({ status: 503 });
      unread.forEach((response) => response.destroy());
      while ((await small('192.0.2.4')).status !== 200);
      await expect(small('2001:db8::1')).resolves.toMatchObject({ status: 200 });
    },
  );

  test('runs pipelined queries in turns, so that a client that does not read holds one response', async () => {
    const query = (text: string) =>
      `GET /graphql?query=${encodeURIComponent(text)} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n`;
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    longCount = 0;
    socket.write(`${query('{long}')}${query('{again:long}')}${query('{item{name}}')}`);
    await once(socket, 'readable');
    expect(longCount).toBe(1);
    let text = '';
    for await (const chunk of socket) {
      text = `${text.slice(-1_000)}${String(chunk)}`;
      if (text.endsWith('{"data":{"item":{"name":"one"}}}')) break;
    }
    expect(longCount).toBe(2);
  });

  describe('a malformed request', () => {
    const deepJson = (levels: number) => `${'{"and":'.repeat(levels)}{}${'}'.repeat(levels)}`;

    test('with the hash of a query instead of the query gets the message after which clients send the query', async () => {
      const extensions = { persistedQuery: { version: 1, sha256Hash: 'ec'.repeat(32) } };
      for (const reply of [await post({ extensions }), await get({ extensions: JSON.stringify(extensions) })]) {
        expect(reply).toMatchObject({ status: 400, body: { errors: [{ message: 'PersistedQueryNotSupported' }] } });
      }
      await expect(post({ query: '{ __typename }', extensions })).resolves.toMatchObject({ status: 200 });
    });

    test.each<[string, number, string, () => Promise<Reply>]>([
      ['an empty body', 400, 'malformed_body', () => post('')],
      ['text that is not JSON', 400, 'malformed_body', () => post('{"query":')],
      ['a null byte in JSON', 400, 'malformed_body', () => post('{"query":"\0"}')],
      ['bytes that are not UTF-8', 400, 'malformed_body', () => post(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
      ['a batch', 400, 'malformed_body', () => post([{ query: '{ __typename }' }])],
      ['a JSON string', 400, 'malformed_body', () => post('"{ __typename }"')],
      ['JSON null', 400, 'malformed_body', () => post('null')],
      ['no query', 400, 'invalid_input', () => post({})],
      ['a query that is a number', 400, 'invalid_input', () => post({ query: 1 })],
      ['a query that is an array', 400, 'invalid_input', () => post({ query: ['{ __typename }'] })],
      ['variables that are text', 400, 'invalid_input', () => post({ query: '{ __typename }', variables: '{}' })],
      ['variables that are an array', 400, 'invalid_input', () => post({ query: '{ __typename }', variables: [] })],
      [
        'an operationName that is an object',
        400,
        'invalid_input',
        () => post({ query: '{ __typename }', operationName: {} }),
      ],
      ['extensions that are a number', 400, 'invalid_input', () => post({ query: '{ __typename }', extensions: 1 })],
      [
        'an unknown operation',
        400,
        'invalid_input',
        () => post({ query: 'query A { __typename }', operationName: 'B' }),
      ],
      [
        'two operations and no name',
        400,
        'invalid_input',
        () => post({ query: 'query A { __typename } query B { __typename }' }),
      ],
      [
        'two operations with the same name',
        400,
        'invalid_input',
        () => post({ query: 'query A { __typename } query A { __typename }', operationName: 'A' }),
      ],
      ['a fragment alone', 400, 'invalid_input', () => post({ query: 'fragment F on Query { __typename }' })],
      ['an empty document', 400, 'invalid_input', () => post({ query: '' })],
      ['a syntax error', 400, 'invalid_input', () => post({ query: '{ item {' })],
      ['a null byte in the document', 400, 'malformed_body', () => post({ query: '{ item\u0000 { name } }' })],
      ['a field that does not exist', 400, 'invalid_input', () => post({ query: '{ nothing }' })],
      [
        'a hundred fields that do not exist',
        400,
        'invalid_input',
        () => post({ query: `{ ${Array.from({ length: 200 }, (_, i) => `f${i}`).join(' ')} }` }),
      ],
      [
        'an argument of the wrong type',
        400,
        'invalid_input',
        () => post({ query: '{ item(names: {a: 1}) { name } }' }),
      ],
      [
        'a variable of the wrong type',
        400,
        'invalid_input',
        () => post({ query: 'query ($f: Filter) { item(filter: $f) { name } }', variables: { f: 1 } }),
      ],
      [
        'a variable that is missing',
        400,
        'invalid_input',
        () => post({ query: 'query ($f: Filter!) { item(filter: $f) { name } }' }),
      ],
      ['a subscription', 400, 'invalid_input', () => post({ query: 'subscription { item { name } }' })],
      [
        'a fragment that spreads itself',
        400,
        'invalid_input',
        () => post({ query: '{ item { ...F } } fragment F on Item { item { ...F } }' }),
      ],
      [
        'fields that nest too deeply',
        400,
        'invalid_input',
        () => post({ query: `{ ${'item { '.repeat(21)} name ${'}'.repeat(21)} }` }),
      ],
      [
        'fragments that nest too deeply',
        400,
        'invalid_input',
        () =>
          post({
            query: `{ item { ...F0 } } ${Array.from({ length: 25 }, (_, i) => `fragment F${i} on Item { item { name ${i < 24 ? `...F${i + 1}` : ''} } }`).join(' ')}`,
          }),
      ],
      [
        'arguments that nest too deeply',
        400,
        'invalid_input',
        () => post({ query: `{ item(filter: ${'{and: '.repeat(40)}{}${'}'.repeat(40)}) { name } }` }),
      ],
      [
        'a list that overflows the parser',
        400,
        'invalid_input',
        () => post({ query: `{ item(names: ${'['.repeat(1990)}${']'.repeat(1990)}) { name } }` }),
      ],
      [
        'variables that nest too deeply',
        400,
        'malformed_body',
        () => post(`{"query":"{ __typename }","variables":${deepJson(100_000)}}`),
      ],
      [
        'more tokens than are allowed',
        400,
        'invalid_input',
        () => post({ query: `{ ${'__typename '.repeat(4000)} }` }),
      ],
      ['a body over the limit', 413, 'too_large', () => post({ query: `#${'x'.repeat(1024 * 1024)}\n{ __typename }` })],
      [
        'a chunked body over the limit',
        413,
        'too_large',
        () => post('x'.repeat(2 * 1024 * 1024), { 'Transfer-Encoding': 'chunked' }),
      ],
      [
        'no content type',
        415,
        'unsupported_media_type',
        () => send('/graphql', { method: 'POST' }, '{"query":"{ __typename }"}'),
      ],
      [
        'a form',
        415,
        'unsupported_media_type',
        () => post('query=1', { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ],
      [
        'a multipart body',
        415,
        'unsupported_media_type',
        () => post('--x', { 'Content-Type': 'multipart/form-data; boundary=x' }),
      ],
      [
        'a different charset',
        415,
        'unsupported_media_type',
        () => post({ query: '{ __typename }' }, { 'Content-Type': 'application/json; charset=latin1' }),
      ],
      ['a compressed body', 415, 'unsupported_media_type', () => post('x', { 'Content-Encoding': 'gzip' })],
      [
        'an Accept that only wants XML',
        406,
        'not_acceptable',
        () => post({ query: '{ __typename }' }, { Accept: 'application/xml' }),
      ],
      [
        'an Accept that rejects JSON',
        406,
        'not_acceptable',
        () => post({ query: '{ __typename }' }, { Accept: 'application/json;q=0' }),
      ],
      ['PUT', 405, 'method_not_allowed', () => send('/graphql', { method: 'PUT', headers: json }, '{}')],
      ['DELETE', 405, 'method_not_allowed', () => send('/graphql', { method: 'DELETE', headers: json })],
      ['a mutation by GET', 405, 'method_not_allowed', () => get({ query: 'mutation { touch }' })],
      [
        'a mutation that the schema does not have',
        400,
        'invalid_input',
        () => send('/without-mutations', { method: 'POST', headers: json }, '{"query":"mutation { touch }"}'),
      ],
      ['a GET without a query', 400, 'invalid_input', () => get({})],
      [
        'a GET whose variables are not JSON',
        400,
        'invalid_input',
        () => get({ query: '{ __typename }', variables: '{' }),
      ],
      [
        'a GET with two queries',
        400,
        'invalid_input',
        () => send('/graphql?query=%7Ba%7D&query=%7Bb%7D', { headers: json }),
      ],
      [
        'a GET with broken percent signs',
        400,
        'invalid_input',
        () => send('/graphql?query=%E0%A4%A', { headers: json }),
      ],
    ])('with %s gets %i %s', async (_reason, status, code, ask) => {
      const reply = await ask();
      expect(reply.status).toBe(status);
      expect(reply.headers['x-request-id']).toBe('r-1');
      expect(reply.body).not.toHaveProperty('data');
      expect(reply.body.errors?.[0]).toMatchObject({
        message: expect.stringMatching(/./) as string,
        extensions: { code, requestId: 'r-1' },
      });
      expect(JSON.stringify(reply.body)).not.toMatch(/node_modules|\.[jt]s:|stack/);
      expect(reported).toEqual([]);
      const next = await post({ query: '{ item { name } }' });
      expect(next.body).toEqual({ data: { item: { name: 'one' } } });
    });

    test('gets the allowed methods', async () => {
      await expect(send('/graphql', { method: 'PUT', headers: json })).resolves.toMatchObject({
        headers: { allow: 'GET, HEAD, POST, OPTIONS' },
      });
      await expect(get({ query: 'mutation { touch }' })).resolves.toMatchObject({ headers: { allow: 'POST' } });
    });

    test('gets the location of an error in the document', async () => {
      const { body } = await post({ query: '{ item { nam } }' });
      expect(body.errors).toEqual([
        {
          message: 'Cannot query field "nam" on type "Item". Did you mean "name"?',
          locations: [{ line: 1, column: 10 }],
          extensions: { code: 'invalid_input', requestId: 'r-1' },
        },
      ]);
    });

    test('with an invalid document gets 200 if only application/json is accepted', async () => {
      await expect(post({ query: '{ nothing }' }, { Accept: 'application/json' })).resolves.toMatchObject({
        status: 200,
      });
    });
  });

  describe('requests that a browser makes for a different origin', () => {
    const ask = (headers: Record<string, string>) => send('/?query={item{name}}', { method: 'GET', headers });

    test.each([
      ['an image on a different site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' }],
      ['a script on a different site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'script' }],
      ['a style on a different port', { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': 'style' }],
      ['a frame on a different site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'iframe' }],
      ['a request of a script', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'empty' }],
    ])('are rejected: %s', async (_what, headers) => {
      const { status, body } = await ask(headers);
      expect(status).toBe(403);
      expect(body.errors?.[0]).toMatchObject({
        message: expect.stringContaining(`Sec-Fetch-Site: ${headers['Sec-Fetch-Site']}`) as string,
        extensions: { code: 'cross_site' },
      });
    });

    test.each([
      ['a client other than a browser', {}],
      ['a URL typed by a user', { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Dest': 'document' }],
      ['a link on a different site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'document' }],
      ['a page of this server', { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty' }],
    ])('other requests are accepted: %s', async (_what, headers) => {
      expect(await ask(headers)).toMatchObject({ status: 200, body: { data: { item: { name: 'one' } } } });
    });
  });

  describe('errors stay short', () => {
    const post = (body: object) =>
      send('/', { method: 'POST', headers: { 'Content-Type': 'application/json' } }, JSON.stringify(body));

    test.each([
      [
        'a long name',
        { query: `{ ${'x'.repeat(900_000)} }` },
        'names of at most 1000 characters; received 900000 characters',
      ],
      ['a long alias', { query: `{ ${'x'.repeat(900_000)}: item { name } }` }, 'names of at most 1000 characters'],
      ['a long text', { query: `{ item(filter: "${'x'.repeat(900_000)}") { name } }` }, 'Expected value of type'],
      [
        'a long value',
        { query: 'query ($f: Filter) { item(filter: $f) { name } }', variables: { f: 'x'.repeat(900_000) } },
        '',
      ],
    ])('for %s', async (_what, body, message) => {
      const { body: answer } = await post(body);
      expect(answer.errors?.[0]?.message).toContain(message);
      expect(JSON.stringify(answer).length).toBeLessThan(3000);
    });

    test('for an error that many records share', async () => {
      const { body } = await post({
        query: '{ item { many(values: 1) { name } } item { list: many(values: 300) { colour } } }',
      });
      expect(body.errors).toHaveLength(100);
    });

    test('for an Accept header with the name of an inherited property', async () => {
      const headers = { 'Content-Type': 'application/json', Accept: 'constructor' };
      const { status } = await send('/', { method: 'POST', headers }, JSON.stringify({ query: '{ item { name } }' }));
      expect(status).toBe(406);
    });
  });
});
