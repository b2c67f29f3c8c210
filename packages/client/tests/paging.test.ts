import { ApiError } from '../src/errors.js';
import { readAll, readAllAfter } from '../src/paging.js';
import { type NotesServer, createNotesClient, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

afterEach(() => server.close());

interface Listing {
  readonly notes: readonly string[];
  /** The largest page of the server. */
  readonly maxLimit?: number;
  readonly total?: boolean;
  readonly link?: boolean;
}

const serveList = ({ notes, maxLimit = 100, total = false, link = false }: Listing) =>
  serveNotes((response, _nth, { url }) => {
    const query = new URL(url, 'http://localhost').searchParams;
    const offset = Number(query.get('offset'));
    const end = offset + Math.min(maxLimit, Number(query.get('limit')));
    const headers: Record<string, string> = {};
    if (total) headers['X-Total-Count'] = String(notes.length);
    if (link) headers.Link = end < notes.length ? `<${url}>; rel="next"` : '</>; rel="first"';
    sendJson(response, 200, notes.slice(offset, end), headers);
  });

async function collect(page?: { offset?: number; limit?: number }) {
  const client = createNotesClient(server.url);
  const notes: string[] = [];
  for await (const note of readAll((query) => client.GET('/notes', { params: { query } }), page)) notes.push(note);
  return notes;
}

const notes = ['a', 'b', 'c', 'd', 'e'];

test.each<[string, Omit<Listing, 'notes'>, number]>([
  ['reports a total', { total: true }, 3],
  ['links to the next page', { link: true }, 3],
  ['reports neither', {}, 4],
  ['returns smaller pages than requested', { total: true, maxLimit: 1 }, 5],
])('readAll reads a list that %s to its end', async (_server, listing, requests) => {
  server = await serveList({ notes, ...listing });
  expect(await collect({ limit: 2 })).toEqual(notes);
  expect(server.seen).toHaveLength(requests);
});

test('readAll follows the cursor of a link, so that changes of the list do not shift its pages', async () => {
  server = await serveNotes((response, nth, { url }) => {
    const cursor = new URL(url, 'http://localhost').searchParams.get('cursor');
    const link = { Link: `</notes?limit=2&cursor=c%2B${nth}>; rel="next"` };
    sendJson(response, 200, [cursor ?? 'first'], { 'X-Total-Count': '3', ...(nth < 2 && link) });
  });
  expect(await collect()).toEqual(['first', 'c+0', 'c+1']);
});

test('readAll reads an empty list with one request', async () => {
  server = await serveList({ notes: [], total: true });
  expect(await collect()).toEqual([]);
  expect(server.seen).toHaveLength(1);
});

test('readAll starts at the given offset', async () => {
  server = await serveList({ notes, total: true });
  expect(await collect({ offset: 3 })).toEqual(['d', 'e']);
});

test('readAll requests no more pages than the loop needs', async () => {
  server = await serveList({ notes, total: true });
  const client = createNotesClient(server.url);
  for await (const note of readAll((query) => client.GET('/notes', { params: { query } }), { limit: 2 })) {
    if (note === 'b') break;
  }
  expect(server.seen).toHaveLength(1);
});

test('readAll throws ApiError for a failed page, after the items of the previous page', async () => {
  server = await serveNotes((response, nth) =>
    nth === 0 ? sendJson(response, 200, ['a']) : sendJson(response, 403, { error: 'No.', code: 'forbidden' }),
  );
  const client = createNotesClient(server.url);
  const list = readAll((query) => client.GET('/notes', { params: { query } }));
  expect(await list.next()).toEqual({ done: false, value: 'a' });
  const failure = await list.next().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ statusCode: 403, code: 'forbidden' });
});

test('readAll takes a client and a path instead of a function', async () => {
  server = await serveList({ notes, total: true });
  const found: string[] = [];
  const init = { params: { query: { offset: 1, limit: 3 } }, headers: { 'X-Reader': 'a' } };
  for await (const note of readAll(createNotesClient(server.url), '/notes', init)) found.push(note satisfies string);
  expect(found).toEqual(['b', 'c', 'd', 'e']);
  expect(server.seen.map(({ url, headers }) => [url, headers['x-reader']])).toEqual([
    ['/notes?offset=1&limit=3', 'a'],
    ['/notes?offset=4&limit=3', 'a'],
  ]);
});

test('readAllAfter takes a client and a path instead of a function', async () => {
  server = await serveNotes((response) => sendJson(response, 200, [{ id: 3 }], { Link: '</>; rel="first"' }));
  const list = readAllAfter(createNotesClient(server.url), '/entries', { params: { query: { after: 4 } } });
  expect(await list.next()).toEqual({ done: false, value: { id: 3 } });
  expect((await list.next()).done).toBe(true);
  expect(server.seen.map(({ url }) => url)).toEqual(['/entries?after=4&limit=500']);
});

test('readAllAfter reads a list to its end', async () => {
  const entries = [9, 7, 4, 2].map((id) => ({ id }));
  server = await serveNotes((response, _nth, { url }) => {
    const query = new URL(url, 'http://localhost').searchParams;
    const start = query.has('after') ? entries.findIndex(({ id }) => id === Number(query.get('after'))) + 1 : 0;
    const end = start + Number(query.get('limit'));
    sendJson(response, 200, entries.slice(start, end), end < entries.length ? { Link: '</>; rel="next"' } : {});
  });
  const client = createNotesClient(server.url);
  const ids: number[] = [];
  const list = readAllAfter((query) => client.GET('/entries', { params: { query } }), { limit: 3 });
  for await (const { id } of list) ids.push(id);
  expect(ids).toEqual([9, 7, 4, 2]);
  expect(server.seen.map(({ url }) => url)).toEqual([
    '/entries?limit=3',
    '/entries?after=4&limit=3',
    '/entries?after=2&limit=3',
  ]);
});
