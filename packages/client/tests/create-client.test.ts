import { createClient } from '../src/create-client.js';
import {
  type NotePaths,
  type NotesServer,
  createNotesClient,
  notesContract,
  sendJson,
  serveNotes,
} from './notes-server.js';

let server: NotesServer;
let revision: string | undefined;

beforeEach(async () => {
  revision = undefined;
  server = await serveNotes((response) =>
    sendJson(response, 200, ['first'], revision === undefined ? {} : { 'X-Trellis-Revision': revision }),
  );
});
afterEach(async () => {
  delete process.env.NOTES_TOKEN;
  await server.close();
});

const lastHeaders = () => server.seen.at(-1)!.headers;

describe('createClient: token', () => {
  test.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['an option', 'from-option', undefined, 'Bearer from-option'],
    ['the environment', undefined, 'from-env', 'Bearer from-env'],
    ['an option over the environment', 'from-option', 'from-env', 'Bearer from-option'],
    ['an empty option, which disables the environment', '', 'from-env', undefined],
    ['neither, so none is sent', undefined, undefined, undefined],
    ['an empty variable, so none is sent', undefined, '', undefined],
    ['an option with a trailing newline', 'from-file\n', undefined, 'Bearer from-file'],
  ])('is read from %s', async (_source, token, variable, sent) => {
    if (variable !== undefined) process.env.NOTES_TOKEN = variable;
    await createNotesClient(server.url, token === undefined ? {} : { token }).GET('/notes');
    expect(lastHeaders().authorization).toBe(sent);
  });

  test('is rejected without being quoted when it contains invalid characters', () => {
    expect(() => createNotesClient(server.url, { token: 'secret\nvalue' })).toThrow(
      new TypeError('Expected the token to contain only visible ASCII characters.'),
    );
  });

  test('is optional on platforms without process', async () => {
    const { process } = globalThis;
    try {
      Reflect.deleteProperty(globalThis, 'process');
      const client = createNotesClient('http://localhost');
      expect(client.revision).toBe('r1');
    } finally {
      globalThis.process = process;
    }
  });
});

test('createClient: a page of a proxy in place of JSON is an error that names the operation', async () => {
  const proxy = await serveNotes((response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Hi'));
  const [error] = await Promise.allSettled([createNotesClient(proxy.url).GET('/notes')]);
  await proxy.close();
  const message = 'GET /notes: expected a response in JSON; received different content, perhaps that of a proxy.';
  expect(error).toMatchObject({ status: 'rejected', reason: { name: 'TypeError', message } });
});

describe('createClient: header parameters', () => {
  interface Paths {
    '/notes': {
      get: {
        parameters: { header: { 'X-City': string } };
        responses: { 200: { content: { 'application/json': string[] } } };
      };
    };
  }
  const list = (city: string, styles = {}) =>
    createClient<Paths>({ ...notesContract, baseUrl: server.url, styles: { 'GET /notes': styles } }).GET('/notes', {
      params: { header: { 'X-City': city } },
    });

  test.each(['5 €', 'a\nb', 'a\0'])('rejects %j without quoting it, and sends nothing', async (city) => {
    const error = new TypeError('GET /notes: expected a value in Latin-1 of the header parameter "X-City".');
    await expect(list(city)).rejects.toThrow(error);
    await expect(list(city, { 'header x-city': { explode: true } })).rejects.toThrow(error);
    expect(server.seen).toEqual([]);
  });

  test.each(['é\t1', 'é\t1\n'])('sends %j in Latin-1', async (city) => {
    await list(city);
    expect(lastHeaders()['x-city']).toBe('é\t1');
  });
});

describe('createClient: path parameters', () => {
  interface Paths {
    '/notes/{id}': {
      delete: {
        parameters: { path: { id: string } };
        responses: { 200: { content: { 'application/json': string[] } } };
      };
    };
  }
  const remove = (id: string) =>
    createClient<Paths>({ ...notesContract, baseUrl: server.url }).DELETE('/notes/{id}', { params: { path: { id } } });

  test.each(['.', '..'])('rejects "%s", which would reach a different path', async (id) => {
    await expect(remove(id)).rejects.toThrow(
      new TypeError(`DELETE /notes/{id}: expected path parameters other than "." and ".."; received "${id}".`),
    );
    expect(server.seen).toEqual([]);
  });

  test.each([[''], [undefined], [null], [[]]])('rejects %j, without which the path is a different one', async (id) => {
    await expect(remove(id as string)).rejects.toThrow(
      new TypeError('DELETE /notes/{id}: expected a value of the path parameter "id"; received none.'),
    );
    expect(server.seen).toEqual([]);
  });

  test.each([
    ['../x', '/notes/..%2Fx'],
    ['...', '/notes/...'],
    ['%2e%2e', '/notes/%252e%252e'],
  ])('sends "%s" as one segment', async (id, url) => {
    await remove(id);
    expect(server.seen.at(-1)!.url).toBe(url);
  });
});

describe('createClient: base URL', () => {
  test.each(['', '/', '///'])('ignores the trailing "%s"', async (end) => {
    await createNotesClient(server.url + end).GET('/notes');
    expect(server.seen.at(-1)!.url).toBe('/notes');
  });

  test('keeps its path', async () => {
    await createNotesClient(`${server.url}/secrets/`).GET('/notes', { params: { query: { limit: 2 } } });
    expect(server.seen.at(-1)!.url).toBe('/secrets/notes?limit=2');
  });

  test.each(['localhost:4000', 'ftp://localhost', 'here', 'http://', 'http://a b', '/a?b', '/#b'])(
    'rejects "%s" with an example',
    (baseUrl) => {
      expect(() => createNotesClient(baseUrl)).toThrow(
        new TypeError(`notes: expected an address such as http://localhost:4000; received "${baseUrl}".`),
      );
    },
  );

  test.each(['?tenant=a', '/base?', '/#top'])('rejects the end "%s", to which paths would be appended', (end) => {
    expect(() => createNotesClient(server.url + end)).toThrow(
      new TypeError(`notes: expected an address such as http://localhost:4000; received "${server.url}${end}".`),
    );
  });

  test.each(['http://ada:secret@localhost', 'http://secret@localhost:1/x', '//ada:secret@localhost', 'a:secret@b'])(
    'rejects the credentials of "%s" without quoting them',
    (baseUrl) => {
      expect(() => createNotesClient(baseUrl)).toThrow(
        new TypeError('notes: expected an address without a username and a password. Pass a token instead.'),
      );
    },
  );
});

describe('createClient: an empty body', () => {
  test.each([
    ['text', (data: unknown) => data === ''],
    ['blob', (data: unknown) => data instanceof Blob && data.size === 0],
    ['arrayBuffer', (data: unknown) => data instanceof ArrayBuffer && data.byteLength === 0],
    ['stream', (data: unknown) => data === null || data instanceof ReadableStream],
    ['json', (data: unknown) => data === undefined],
  ] as const)('read as %s has that type', async (parseAs, isExpected) => {
    for (const headers of [{ 'Content-Length': '0' }, { 'Transfer-Encoding': 'chunked' }]) {
      const empty = await serveNotes((response) => response.writeHead(200, headers).end());
      const { data, status } = await createNotesClient(empty.url).GET('/notes', { parseAs });
      await empty.close();
      expect([headers, status, isExpected(data)]).toEqual([headers, 200, true]);
    }
  });
});

describe('createClient: options', () => {
  test.each([
    ['timeoutMs', { timeoutMs: -1 }],
    ['timeoutMs', { timeoutMs: Infinity }],
    ['retry.maxRetries', { retry: { maxRetries: Number.NaN } }],
    ['retry.baseDelayMs', { retry: { baseDelayMs: 0.5 } }],
    ['retry.maxRetryAfterMs', { retry: { maxRetryAfterMs: 2 ** 31 } }],
  ])('rejects %s out of bounds by name', (name, options) => {
    expect(() => createNotesClient('http://localhost', options)).toThrow(
      `Expected ${name} to be a whole number from 0 to 2147483647; received `,
    );
  });

  test('undefined options keep their defaults', async () => {
    const options = { token: undefined, timeoutMs: undefined, retry: { maxRetries: undefined } };
    const client = createClient<NotePaths>({ ...notesContract, baseUrl: server.url }, options);
    expect((await client.GET('/notes')).data).toEqual(['first']);
  });

  test('a custom fetch is used for every attempt', async () => {
    const urls: string[] = [];
    const fetch = (request: Request) => {
      urls.push(request.url);
      return globalThis.fetch(request);
    };
    await createNotesClient(server.url, { fetch }).GET('/notes');
    expect(urls).toEqual([`${server.url}/notes`]);
  });
});

describe('createClient: revision', () => {
  test.each<[string, string | undefined, string[]]>([
    ['a different', 'r2', ['notes: this client was generated for revision r1; the server is at r2.']],
    ['the same', 'r1', []],
    ['no', undefined, []],
  ])('warns once at most for %s revision of the server', async (_reason, serverRevision, expected) => {
    revision = serverRevision;
    const warnings: string[] = [];
    const client = createNotesClient(server.url, { onWarning: (message) => warnings.push(message) });
    await client.GET('/notes');
    await client.GET('/notes');
    expect(warnings).toEqual(expected);
    expect(client.revision).toBe('r1');
  });

  test('warns on the console by default', async () => {
    revision = 'r2';
    const warnings: unknown[] = [];
    const { warn } = console;
    console.warn = (message: unknown) => warnings.push(message);
    try {
      await createNotesClient(server.url).GET('/notes');
    } finally {
      console.warn = warn;
    }
    expect(warnings).toEqual(['notes: this client was generated for revision r1; the server is at r2.']);
  });
});
