import { createClient } from '../src/create-client.js';
import { notesContract, type NotesServer, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

beforeEach(async () => {
  server = await serveNotes((response, nth) => sendJson(response, nth === 0 ? 503 : 200, {}));
});
afterEach(() => server.close());

interface Post<Type extends string, Value> {
  readonly post: {
    readonly parameters: { readonly query?: never };
    readonly requestBody: { readonly content: Readonly<Record<Type, Value>> };
    readonly responses: { readonly 200: { readonly content: { readonly 'application/json': unknown } } };
  };
}

interface UploadPaths {
  '/form': Post<'application/x-www-form-urlencoded', { name: string; tags?: readonly string[] }>;
  '/parts': Post<
    'multipart/form-data',
    { title: string; size: number; pages: readonly Blob[]; at?: { x: number }; note?: string | null }
  >;
  '/text': Post<'text/plain', string>;
  '/bytes': Post<'application/octet-stream', unknown>;
  '/any': Post<'*/*', unknown>;
  '/json': Post<'application/json', { name: string }>;
}

/** Every request is sent twice, as the first attempt is refused. */
const upload = () =>
  createClient<UploadPaths>(
    {
      ...notesContract,
      baseUrl: server.url,
      mediaTypes: {
        'POST /form': 'application/x-www-form-urlencoded',
        'POST /parts': 'multipart/form-data',
        'POST /text': 'text/plain',
        'POST /bytes': 'application/octet-stream',
        'POST /any': '*/*',
      },
    },
    { retry: { baseDelayMs: 1 } },
  );

/** Returns the type and body of the two attempts, which must be equal. */
function readUpload() {
  const [first, second] = server.seen.map(({ headers, body }) => [headers['content-type'], body]);
  expect(second).toEqual(first);
  return first;
}

test('an object is sent as a form', async () => {
  await upload().POST('/form', { body: { name: 'ä&b', tags: ['x', 'y'] } });
  expect(readUpload()).toEqual(['application/x-www-form-urlencoded', 'name=%C3%A4%26b&tags=x&tags=y']);
});

test('search parameters are sent as a form', async () => {
  await upload().POST('/form', { body: new URLSearchParams({ name: 'a b' }) });
  expect(readUpload()).toEqual(['application/x-www-form-urlencoded', 'name=a+b']);
});

test('an object is sent as a multipart form with its files', async () => {
  const pages = [new File(['one'], '1.txt', { type: 'text/plain' }), new Blob(['two'])];
  await upload().POST('/parts', { body: { title: 'ä', size: 2, pages, at: { x: 1 }, note: null } });
  const [type = '', body = ''] = readUpload() ?? [];
  const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
  expect([...form.keys()]).not.toContain('note');
  expect([form.get('title'), form.get('size'), form.get('at')]).toEqual(['ä', '2', '{"x":1}']);
  const files = form.getAll('pages') as File[];
  expect(await Promise.all(files.map(async (file) => [file.name, file.type, await file.text()]))).toEqual([
    ['1.txt', 'text/plain', 'one'],
    ['blob', 'application/octet-stream', 'two'],
  ]);
});

test('a form of the caller is sent as it is', async () => {
  const body = new FormData();
  body.append('title', 'x');
  await upload().POST('/parts', { body });
  expect(readUpload()?.[1]).toContain('name="title"\r\n\r\nx\r\n');
});

test.each([
  ['text', 'text' as const],
  ['a Blob', new Blob(['text'])],
  ['bytes', new TextEncoder().encode('text')],
])('%s is sent as text', async (_what, body) => {
  await upload().POST('/text', { body });
  expect(readUpload()).toEqual(['text/plain', 'text']);
});

test('a stream is sent as bytes, and repeated by a retry', async () => {
  await upload().POST('/bytes', { body: new Blob(['a', 'b']).stream() });
  expect(readUpload()).toEqual(['application/octet-stream', 'ab']);
});

test.each([
  ['a file has its own type', new File(['x'], 'x.png', { type: 'image/png' }), 'image/png'],
  ['bytes have no type', new Uint8Array([120]), 'application/octet-stream'],
])('%s where the contract accepts any type', async (_what, body, type) => {
  await upload().POST('/any', { body });
  expect(readUpload()).toEqual([type, 'x']);
});

test('a header of the caller names a different type', async () => {
  await upload().POST('/json', { body: { name: 'x' }, headers: { 'Content-Type': 'application/merge-patch+json' } });
  expect(readUpload()).toEqual(['application/merge-patch+json', '{"name":"x"}']);
});

/* Checked by the compiler only. */
export function wrongBodiesDoNotCompile(): readonly unknown[] {
  return [
    // @ts-expect-error a field of the form is missing
    upload().POST('/form', { body: { tags: [] } }),
    // @ts-expect-error a file is a Blob
    upload().POST('/parts', { body: { title: '', size: 1, pages: ['x'] } }),
    // @ts-expect-error bytes have no fields
    upload().POST('/bytes', { body: { name: 'x' } }),
    // @ts-expect-error a form is not JSON
    upload().POST('/json', { body: new FormData() }),
  ];
}
