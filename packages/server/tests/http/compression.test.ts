import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib';
import { buildSchema } from 'graphql';
import { createGraphqlEndpoint } from '../../src/graphql/endpoint.js';
import { chooseEncoding, type ContentEncoding, createRepeatedCompression } from '../../src/http/payload.js';
import { createTextSender, loadAssets } from '../../src/pages/built-pages.js';
import type { HandlerResponse, OperationSpec, ServerSentEvent } from '../../src/rest/operation.js';
import { contractRouter } from '../../src/rest/router.js';
import { serve, type TestServer } from '../serve.js';

const LONG = 'Text that can be compressed. '.repeat(1_000);

const toOperation = (id: string, contentType = 'application/json'): OperationSpec => ({
  id,
  method: 'get',
  path: `/${id}`,
  security: [],
  parameters: [],
  responses: { 200: { contentTypes: [contentType] }, 304: { contentTypes: [] } },
  validate: {},
});

let server: TestServer;
let folder: string;
let styles: string;
let stream: () => AsyncIterable<ServerSentEvent>;

const answer = (body: unknown) => async (): Promise<HandlerResponse> => ({ status: 200, body });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-compression-'));
  await writeFile(join(folder, 'a.css'), LONG);
  await writeFile(join(folder, 'a.png'), LONG);
  const assets = loadAssets('/assets', { 'a.css': join(folder, 'a.css'), 'a.png': join(folder, 'a.png') });
  styles = assets.urlOf('a.css');
  const sendPage = createTextSender(LONG, 'html');
  const graphql = createGraphqlEndpoint({
    schema: buildSchema('type Query { text: String! }'),
    introspection: true,
    limits: { values: 1_000, workMs: 20_000, timeoutMs: 20_000 },
    createContext: () => undefined,
    execute: () => ({ data: { text: LONG } }),
    report: () => undefined,
  });
  server = await serve(
    assets.handler,
    (request, response, next) => {
      if (request.path === '/page') void sendPage(response);
      else if (request.path === '/graphql') graphql(request, response, 'r1');
      else if (request.path === '/image') response.redirect(assets.urlOf('a.png'));
      else next();
    },
    contractRouter({
      basePath: '',
      revision: 'r1',
      operations: [
        toOperation('long'),
        toOperation('short'),
        toOperation('secret'),
        toOperation('binary', 'application/octet-stream'),
        toOperation('follow', 'text/event-stream'),
      ],
      schemes: {},
      handlers: {
        long: answer(Object.freeze({ text: LONG })),
        short: answer({ text: 'x'.repeat(900) }),
        secret: answer({ text: LONG }),
        binary: answer(Buffer.from(LONG)),
        follow: async () => ({ status: 200, body: stream() }),
      },
      authenticate: () => Promise.resolve(undefined),
      replays: { answerOnce: (_request, handle) => handle() },
      validateResponses: false,
      uncompressedOperations: ['secret'],
    }),
  );
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Uses node:http, which adds no Accept-Encoding and decodes nothing. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Received> {
  const sent = httpRequest(server.url + path, { method, headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
}

const decode = { br: brotliDecompressSync, gzip: gunzipSync } as const;

describe('response compression', () => {
  test.each<[string | undefined, ContentEncoding | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['deflate, zstd', undefined],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0', 'gzip'],
    ['gzip;q=0, br;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['gzip, identity;q=0', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=high', undefined],
    [`${'x'.repeat(1_000)}, gzip`, 'gzip'],
  ])('Accept-Encoding %p chooses %p', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding);
    expect(chooseEncoding(header)).toBe(encoding);
  });

  describe.each([
    ['JSON of an operation', () => '/long', JSON.stringify({ text: LONG })],
    ['a GraphQL response', () => '/graphql?query={text}', JSON.stringify({ data: { text: LONG } })],
    ['a page', () => '/page', LONG],
    ['a script or style', () => styles, LONG],
  ])('%s', (_what, path, text) => {
    test.each(['br', 'gzip'] as const)('is sent as %s to a client that prefers it', async (encoding) => {
      const plain = await get(path());
      const { headers, bytes } = await get(path(), { 'accept-encoding': encoding });
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        'content-length': String(bytes.length),
        'content-type': plain.headers['content-type'],
        vary: expect.stringContaining('Accept-Encoding') as string,
      });
      expect(decode[encoding](bytes).toString()).toBe(text);
      expect(bytes.length).toBeLessThan(text.length / 20);
    });

    test('is sent uncompressed to a client that accepts no encoding', async () => {
      const { headers, bytes } = await get(path());
      expect(bytes.toString()).toBe(text);
      expect(headers).not.toHaveProperty('content-encoding');
      expect(headers.vary).toContain('Accept-Encoding');
    });
  });

  test.each([
    ['a short response', '/short'],
    ['a response with a secret', '/secret'],
    ['a response that is not JSON', '/binary'],
  ])('%s is not compressed', async (_what, path) => {
    const { status, headers } = await get(path, { 'accept-encoding': 'gzip, br' });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('content-encoding');
  });

  test('equal bodies are compressed once for each encoding', async () => {
    const compressBody = createRepeatedCompression();
    const [first, again, other] = [
      await compressBody(LONG, 'br'),
      await compressBody(LONG, 'br'),
      await compressBody(LONG, 'gzip'),
    ];
    expect(again).toBe(first);
    expect(brotliDecompressSync(first).toString()).toBe(LONG);
    expect(gunzipSync(other).toString()).toBe(LONG);
  });

  test('an image is not compressed', async () => {
    const { headers } = await get('/image');
    const image = await get(headers.location ?? '', { 'accept-encoding': 'gzip, br' });
    expect(image.headers['content-type']).toContain('image/png');
    expect(image.headers).not.toHaveProperty('content-encoding');
  });

  test.each(['/long', '/page'])('an ETag of %s matches for every encoding', async (path) => {
    const accepting = { plain: {}, gzip: { 'accept-encoding': 'gzip' }, br: { 'accept-encoding': 'br' } };
    const etags = new Set<string>();
    for (const headers of Object.values(accepting)) etags.add((await get(path, headers)).headers.etag ?? '');
    expect([...etags]).toEqual([expect.stringMatching(/^"/), expect.stringMatching(/^W\/"/)]);
    for (const etag of etags) {
      for (const headers of Object.values(accepting)) {
        const { status, headers: answered } = await get(path, { ...headers, 'if-none-match': etag });
        expect(status).toBe(304);
        expect(answered).toMatchObject({ etag: expect.any(String) as string, vary: expect.any(String) as string });
        expect(answered).not.toHaveProperty('content-encoding');
      }
    }
    expect((await get(path, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  test('HEAD has the headers of GET', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const [head, whole] = [await get('/page', headers, 'HEAD'), await get('/page', headers)];
    expect(head.bytes).toHaveLength(0);
    for (const name of ['content-length', 'content-encoding', 'etag', 'vary']) {
      expect(head.headers[name]).toBe(whole.headers[name]);
    }
  });

  describe('a stream of events', () => {
    const EVENTS = [1, 2, 3].map((n) => ({ id: `e${n}`, data: Object.freeze({ n, text: LONG }) }));
    const TEXT = EVENTS.map(({ id, data }) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join('');

    test('is a valid gzip file for the gzip program', async () => {
      stream = async function* () {
        yield* EVENTS;
      };
      const { headers, bytes } = await get('/follow', { 'accept-encoding': 'gzip, br' });
      expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
      const { stdout, status } = spawnSync('gzip', ['--decompress', '--stdout'], { input: bytes, maxBuffer: 2 ** 26 });
      expect([status, stdout.toString()]).toEqual([0, TEXT]);
      expect(bytes.length).toBeLessThan(TEXT.length / 20);
    });

    test('is sent uncompressed to a client that does not accept gzip', async () => {
      stream = async function* () {
        yield* EVENTS;
      };
      const { headers, bytes } = await get('/follow', { 'accept-encoding': 'br' });
      expect(headers).not.toHaveProperty('content-encoding');
      expect(bytes.toString()).toBe(TEXT);
    });

    test('lets a client read each event before the next one is sent', async () => {
      let proceed = (): void => undefined;
      stream = async function* () {
        for (const event of EVENTS) {
          const taken = new Promise<void>((resolve) => (proceed = resolve));
          yield event;
          await taken;
        }
      };
      const sent = httpRequest(`${server.url}/follow`, { headers: { 'accept-encoding': 'gzip' }, agent: false }).end();
      const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
      let text = '';
      for await (const chunk of response.pipe(createGunzip())) {
        text += String(chunk);
        if (text.endsWith('\n\n')) proceed();
      }
      expect(text).toBe(TEXT);
    });

    test('is compressed once for all clients', async () => {
      let made = 0;
      const data = Object.freeze({ toJSON: () => ({ made: (made += 1), text: LONG }) });
      stream = async function* () {
        yield await Promise.resolve({ id: 'e1', data });
      };
      const all = await Promise.all([1, 2, 3].map(() => get('/follow', { 'accept-encoding': 'gzip' })));
      expect(new Set(all.map(({ bytes }) => bytes.toString('base64'))).size).toBe(1);
      expect(made).toBe(1);
    });
  });
});
