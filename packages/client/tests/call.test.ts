import { type CallArguments, createCall, createListCall, createStreamCall } from '../src/call.js';
import { ApiError } from '../src/errors.js';
import { createNotesClient, type NotePaths, type NotesServer, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

afterEach(() => server.close());

interface Operations {
  renameNote: {
    parameters: {
      path: { slug: string };
      query: { slug?: string; dryRun?: boolean };
      header?: { 'If-Match'?: string };
      cookie?: never;
    };
    requestBody: { content: { 'application/json': { slug: string } } };
    responses: {
      200: { content: { 'application/json': { readonly id: number } } };
      404: { content: { 'application/json': { error: string; code: 'not_found' } } };
    };
  };
  getText: {
    parameters: { path: { slug: string } };
    responses: { 200: { content: { 'text/plain': string } } };
  };
  listNotes: NotePaths['/notes']['get'];
  listEntries: NotePaths['/entries']['get'];
}

/** As the generator writes them. */
const renameNote = createCall<NotePaths, Operations['renameNote'], CallArguments<Operations['renameNote'], 'slug'>>(
  'patch',
  '/notes/{slug}',
  { places: { pathSlug: 'path slug', querySlug: 'query slug', 'if-match': 'header' } },
);
const getText = createCall<NotePaths, Operations['getText'], CallArguments<Operations['getText']>, 'text'>(
  'get',
  '/notes/{slug}/text',
  { parseAs: 'text' },
);
const listNotes = createListCall<NotePaths, Operations['listNotes'], CallArguments<Operations['listNotes']>>('/notes', {
  paging: 'offset',
  limit: 2,
});
const listEntries = createListCall<NotePaths, Operations['listEntries'], CallArguments<Operations['listEntries']>>(
  '/entries',
  { paging: 'after' },
);
const followNotes = createStreamCall<NotePaths, { id: number }, object>('get', '/notes/changes');

test('a call puts each argument in its place, and resolves to the body', async () => {
  server = await serveNotes((response) => sendJson(response, 200, { id: 7 }));
  const note = await renameNote(
    createNotesClient(server.url),
    { pathSlug: 'a/b', querySlug: 'c', dryRun: true, 'If-Match': '"x"', body: { slug: 'd' } },
    { headers: { 'X-Trace': '1' } },
  );
  expect(note satisfies { id: number }).toEqual({ id: 7 });
  expect(server.seen).toMatchObject([
    {
      method: 'PATCH',
      url: '/notes/a%2Fb?slug=c&dryRun=true',
      headers: { 'if-match': '"x"', 'x-trace': '1', 'content-type': 'application/json' },
      body: '{"slug":"d"}',
    },
  ]);
});

test('a call throws ApiError for an error response, and its result has the status instead', async () => {
  server = await serveNotes((response) => sendJson(response, 404, { error: 'No note.', code: 'not_found' }));
  const client = createNotesClient(server.url);
  const values = { pathSlug: 'a', body: { slug: 'b' } };
  const failure = await renameNote(client, values).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ statusCode: 404, code: 'not_found' });
  const result = await renameNote.result(client, values);
  if (result.status !== 404) throw new Error(`Expected status 404; received ${result.status}.`);
  expect(result.error.code satisfies 'not_found').toBe('not_found');
});

test('a call reads a body that is not JSON in the way of its contract', async () => {
  server = await serveNotes((response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end('{}'));
  expect((await getText(createNotesClient(server.url), { slug: 'a' })) satisfies string).toBe('{}');
});

test('all yields the items of all pages, with the largest page of the contract', async () => {
  server = await serveNotes((response, nth) => sendJson(response, 200, nth === 0 ? ['a', 'b'] : []));
  const found: string[] = [];
  for await (const note of listNotes.all(createNotesClient(server.url))) found.push(note satisfies string);
  expect(found).toEqual(['a', 'b']);
  expect(server.seen.map(({ url }) => url)).toEqual(['/notes?offset=0&limit=2', '/notes?offset=2&limit=2']);
});

test('all follows the ids of a list that is paged by id, from a given one', async () => {
  server = await serveNotes((response, nth) => sendJson(response, 200, nth === 0 ? [{ id: 5 }] : []));
  const entries = listEntries.all(createNotesClient(server.url), { after: 9, limit: 1 });
  expect((await entries.next()).value).toEqual({ id: 5 });
  expect((await entries.next()).done).toBe(true);
  expect(server.seen.map(({ url }) => url)).toEqual(['/entries?after=9&limit=1', '/entries?after=5&limit=1']);
});

test('a stream call yields events, and reconnects with the id of the last one', async () => {
  server = await serveNotes((response, nth) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`id: e${nth}\ndata: {"id":${nth}}\n\n`);
  });
  const events = followNotes(createNotesClient(server.url), {}, { reconnectMs: 1 });
  expect((await events.next()).value).toEqual({ id: 'e0', data: { id: 0 } });
  expect((await events.next()).value).toEqual({ id: 'e1', data: { id: 1 } });
  await events.return();
  expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e0']);
});
