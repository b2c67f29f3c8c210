import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { AppError } from '@trellis/core/errors';
import type { HandlerRequest, MultipartBody, OperationSpec } from '../../src/rest/operation.js';
import { contractRouter } from '../../src/rest/router.js';
import { serve, type TestServer } from '../serve.js';

const MIB = 1024 ** 2;

const operation: OperationSpec = {
  id: 'upload',
  method: 'post',
  path: '/files',
  security: [],
  parameters: [],
  body: {
    required: true,
    contentTypes: ['multipart/form-data'],
    maxBytes: 20 * MIB,
    forms: {
      'multipart/form-data': {
        fields: [{ name: 'title', required: true, type: 'string', list: false }],
        files: [
          { name: 'file', required: true, list: true, maxItems: 3, maxBytes: 8 * MIB },
          { name: 'cover', required: false, list: false },
        ],
      },
    },
  },
  responses: { 200: { contentTypes: ['application/json'] }, 400: { contentTypes: ['application/json'] } },
  validate: {},
};

type Body = MultipartBody<{ readonly title: string }, 'file'>;

let server: TestServer;
let handle: (body: Body) => Promise<unknown>;

beforeAll(async () => {
  const handlers = {
    upload: async ({ body }: HandlerRequest) => ({ status: 200, body: await handle(body as Body) }),
  };
  server = await serve(
    contractRouter({
      basePath: '',
      revision: '1',
      operations: [operation],
      handlers,
      schemes: {},
      authenticate: async () => undefined,
      replays: { answerOnce: (_request, answer) => answer() },
      validateResponses: false,
    }),
  );
});

afterAll(() => server.close());

/** Sends a form as fetch writes it. */
async function upload(...parts: readonly (readonly [string, string | Buffer])[]) {
  const form = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), `${name}.png`);
  }
  const response = await fetch(`${server.url}/files`, { method: 'POST', body: form });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const readSizes = async ({ fields, files }: Body) => {
  const sizes: number[] = [];
  for await (const { content } of files) sizes.push((await buffer(content)).length);
  return { ...fields, sizes };
};

test('streams files that are larger than what is read ahead', async () => {
  handle = readSizes;
  const parts = [['file', Buffer.alloc(6 * MIB, 1)] as const, ['file', Buffer.alloc(7 * MIB, 2)] as const];
  expect(await upload(['title', 'Boats'], ...parts)).toEqual({
    status: 200,
    body: { title: 'Boats', sizes: [6 * MIB, 7 * MIB] },
  });
});

test('keeps the bytes of a file', async () => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256));
  handle = async ({ files }) => {
    for await (const { content } of files) return { isSame: (await buffer(content)).equals(bytes) };
    return {};
  };
  expect(await upload(['title', 'a'], ['file', bytes])).toEqual({ status: 200, body: { isSame: true } });
});

test('skips what the handler does not read', async () => {
  handle = async ({ files }) => {
    const names: string[] = [];
    for await (const { filename = '' } of files) names.push(filename);
    return { names };
  };
  const file = ['file', Buffer.alloc(4 * MIB)] as const;
  expect(await upload(['title', 'a'], file, file)).toEqual({ status: 200, body: { names: ['file.png', 'file.png'] } });
});

test('responds although the handler reads no file', async () => {
  handle = async ({ fields }) => fields;
  expect(await upload(['title', 'a'], ['file', Buffer.alloc(4 * MIB)])).toEqual({ status: 200, body: { title: 'a' } });
});

test('reads a form whose boundary contains a comma, and is quoted therefore', async () => {
  handle = async ({ fields }) => fields;
  const part = (name: string, more = '') =>
    `--a,b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\nBoats\r\n`;
  const response = await fetch(`${server.url}/files`, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary="a,b"' },
    body: `${part('title')}${part('file', '; filename="a.txt"')}--a,b--\r\n`,
  });
  expect([response.status, await response.json()]).toEqual([200, { title: 'Boats' }]);
});

test.each([
  ['binary', 'binary', 200],
  ['binary', 'base64', 415],
  ['8bit', 'quoted-printable', 415],
  ['base64', 'binary', 415],
])('responds to a text and a file in the transfer encodings %s and %s with %i', async (ofText, ofFile, status) => {
  handle = async ({ fields }) => fields;
  const parts = [
    `Content-Disposition: form-data; name="title"\r\nContent-Transfer-Encoding: ${ofText}\r\n\r\na`,
    `Content-Disposition: form-data; name="file"\r\nContent-Transfer-Encoding: ${ofFile}\r\n\r\naGk=`,
  ];
  const response = await fetch(`${server.url}/files`, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=limit' },
    body: `${parts.map((part) => `--limit\r\n${part}\r\n`).join('')}--limit--\r\n`,
  });
  expect(response.status).toBe(status);
});

/** Sends parts as browsers do. Each file has an empty name, and is of the type that browsers give to a missing one. */
async function uploadUnnamed(...parts: readonly (readonly [string, string])[]) {
  const lines = parts.flatMap(([name, content]) => [
    '--limit',
    name === 'title'
      ? 'Content-Disposition: form-data; name="title"'
      : `Content-Disposition: form-data; name="${name}"; filename=""\r\nContent-Type: application/octet-stream`,
    '',
    content,
  ]);
  const response = await fetch(`${server.url}/files`, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=limit' },
    body: [...lines, '--limit--', ''].join('\r\n'),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

test('an input of a browser without a file counts as absent', async () => {
  handle = readSizes;
  expect(await uploadUnnamed(['cover', ''], ['title', 'a'], ['file', 'x'])).toEqual({
    status: 200,
    body: { title: 'a', sizes: [1] },
  });
  expect(await uploadUnnamed(['title', 'a'], ['file', ''])).toMatchObject({
    status: 400,
    body: { code: 'invalid_input', field: 'file' },
  });
});

test('accepts a field after the files of a small form', async () => {
  handle = readSizes;
  expect(await upload(['file', Buffer.alloc(1000)], ['title', 'a'])).toMatchObject({
    status: 200,
    body: { title: 'a' },
  });
});

test('rejects a large form whose required field comes after the files', async () => {
  handle = readSizes;
  expect(await upload(['file', Buffer.alloc(3 * MIB)], ['title', 'a'])).toMatchObject({
    status: 400,
    body: { code: 'invalid_input', field: 'title' },
  });
});

test('rejects a further field after the files of a large form', async () => {
  handle = readSizes;
  expect(await upload(['title', 'a'], ['file', Buffer.alloc(3 * MIB)], ['title', 'b'])).toMatchObject({
    status: 400,
    body: { code: 'malformed_body', field: 'title' },
  });
});

test.each([
  ['a file above its limit', [['file', Buffer.alloc(9 * MIB)]]],
  ['a body above its limit', [1, 2, 3].map(() => ['file', Buffer.alloc(7 * MIB)])],
] as const)('ends the stream of %s', async (_reason, files) => {
  let seen: unknown;
  handle = async (body) => {
    try {
      return await readSizes(body);
    } catch (error) {
      seen = error;
      throw error;
    }
  };
  const parts = files.map(([name, bytes]) => [String(name), bytes as Buffer] as const);
  const response = await upload(['title', 'a'], ...parts).catch(() => undefined);
  // The server may close the connection before fetch has sent everything.
  if (response !== undefined) expect(response).toMatchObject({ status: 413, body: { code: 'too_large' } });
  if (files.length === 1) expect(seen).toBeInstanceOf(AppError);
});

test.each([
  ['file', 3, 'must have at most 3 files'],
  ['cover', 1, 'must have at most 1 file'],
])('accepts "%s" %i times, but not once more', async (name, times, message) => {
  handle = readSizes;
  const file = ['file', Buffer.from('a')] as const;
  const others = name === 'file' ? [] : [file];
  const upTo = (count: number) => Array.from({ length: count }, () => [name, Buffer.from('b')] as const);
  expect(await upload(['title', 'a'], ...others, ...upTo(times))).toMatchObject({ status: 200 });
  const refused = await upload(['title', 'a'], ...others, ...upTo(times + 1));
  expect(refused).toMatchObject({ status: 400, body: { field: name, error: `The field "${name}" ${message}.` } });
});

test('ends the stream when the client disconnects', async () => {
  const failed = new Promise((resolve) => {
    handle = async (body) => readSizes(body).catch((error: unknown) => (resolve(error), {}));
  });
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(10 * MIB) };
  const request = http.request(`${server.url}/files`, { method: 'POST', headers });
  request.on('error', () => undefined);
  request.write('--b\r\nContent-Disposition: form-data; name="title"\r\n\r\na\r\n');
  request.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
  request.write(Buffer.alloc(3 * MIB), () => request.destroy());
  expect(await failed).toMatchObject({ code: 'malformed_body' });
});
