import { ApiError, decodeError, requireData } from '../src/errors.js';
import { type Responder, type NotesServer, createNotesClient, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

afterEach(() => server.close());

/** Sends a request to a server with this response, and decodes the result. */
async function decode(respond: Responder): Promise<ApiError | undefined> {
  server = await serveNotes(respond);
  const { error, response } = await createNotesClient(server.url, { retry: { maxRetries: 0 } }).GET('/notes');
  return decodeError(response, error);
}

/** Responds with status 400 and a body in the form of other servers. */
const respondWith =
  (body: string, type = 'application/json'): Responder =>
  (response) =>
    void response.writeHead(400, { 'Content-Type': type }).end(body);

test('decodeError returns the code, message, field, request id and wait of an error response', async () => {
  const body = { error: 'Too many.', code: 'rate_limited', field: 'label', requestId: 'q1' };
  const error = await decode((response) => sendJson(response, 429, body, { 'Retry-After': '7' }));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'ApiError',
    statusCode: 429,
    code: 'rate_limited',
    message: 'Too many.',
    field: 'label',
    requestId: 'q1',
    retryAfter: 7,
    body,
  });
});

test.each([200, 201, 204, 304])('decodeError returns undefined for status %i', async (status) => {
  expect(await decode((response) => void response.writeHead(status).end())).toBeUndefined();
});

test.each([301, 302, 303, 307, 308])('requireData throws for status %i without Location', async (status) => {
  server = await serveNotes((response) => void response.writeHead(status).end());
  const result = await createNotesClient(server.url).GET('/notes');
  const message = `HTTP status ${status}, not followed`;
  expect(decodeError(result.response, result.error)).toMatchObject({ statusCode: status, message });
  expect(() => requireData(result)).toThrow(message);
  expect(server.seen).toHaveLength(1);
});

test.each<[string, Responder, string]>([
  ['an empty body', respondWith(''), 'Bad Request'],
  ['JSON null', respondWith('null'), 'Bad Request'],
  ['a number', respondWith('42'), 'Bad Request'],
  ['a list', respondWith('["no"]'), 'Bad Request'],
  ['broken JSON', respondWith('{"error":'), '{"error":'],
  ['an HTML page', respondWith('\n<!doctype html><h1>Oh no</h1>', 'text/html'), 'Bad Request'],
  ['a plain text', respondWith('no such\u001b[31m thing\n', 'text/plain'), 'no such [31m thing'],
  ['an error that is not a string', respondWith('{"error":17}'), 'Bad Request'],
  ['an empty error', respondWith('{"error":" "}'), 'Bad Request'],
  ['a nested error', respondWith('{"error":{"message":"Nested."}}'), 'Nested.'],
  ['a message', respondWith('{"message":"Not Found"}'), 'Not Found'],
  ['a problem document', respondWith('{"title":"T","detail":"D"}'), 'D'],
  ['a long text', respondWith('x'.repeat(10_000), 'text/plain'), 'x'.repeat(500)],
])('decodeError accepts %s', async (_reason, respond, message) => {
  const error = await decode(respond);
  expect([error?.statusCode, error?.message, error?.code]).toEqual([400, message, undefined]);
});

test('decodeError uses the status as the message when it has no reason phrase', async () => {
  const error = await decode((response) => void response.writeHead(499, '').end());
  expect(error?.message).toBe('HTTP status 499');
});

test('decodeError ignores members of the wrong type', async () => {
  const error = await decode(respondWith('{"error":"No.","code":7,"field":[],"requestId":{}}'));
  expect([error?.code, error?.field, error?.requestId, error?.retryAfter]).toEqual(Array(4).fill(undefined));
});

test('decodeError reads the request id from the header when the body has none', async () => {
  const error = await decode((response) => sendJson(response, 500, {}, { 'X-Request-Id': 'q2' }));
  expect(error?.requestId).toBe('q2');
});

test('decodeError ignores an invalid Retry-After', async () => {
  const error = await decode((response) => sendJson(response, 503, {}, { 'Retry-After': 'soon' }));
  expect(error?.retryAfter).toBeUndefined();
});
