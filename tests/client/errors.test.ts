import { ApiError, decodeError } from '../../src/client/errors.js';
import type { Answer, NotesServer } from './notes-server.js';
import { createNotesClient, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

afterEach(() => server.close());

/** Calls a server that answers so, and decodes what comes. */
async function decode(answer: Answer): Promise<ApiError | undefined> {
  server = await serveNotes(answer);
  const { error, response } = await createNotesClient(server.url, { retry: { maxRetries: 0 } }).GET('/notes');
  return decodeError(response, error);
}

/** The other services' bodies, each sent with status 400. */
const sends =
  (body: string, type = 'application/json'): Answer =>
  (response) =>
    void response.writeHead(400, { 'Content-Type': type }).end(body);

test('a refusal carries the code, the sentence, the field, the request id and the wait', async () => {
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

test.each([200, 201, 204, 304])('status %i is no refusal', async (status) => {
  expect(await decode((response) => void response.writeHead(status).end())).toBeUndefined();
});

test.each<[string, Answer, string]>([
  ['nothing', sends(''), 'Bad Request'],
  ['JSON null', sends('null'), 'Bad Request'],
  ['a number', sends('42'), 'Bad Request'],
  ['a list', sends('["no"]'), 'Bad Request'],
  ['broken JSON', sends('{"error":'), '{"error":'],
  ['a page', sends('\n<!doctype html><h1>Oh no</h1>', 'text/html'), 'Bad Request'],
  ['a plain text', sends('no such\u001b[31m thing\n', 'text/plain'), 'no such [31m thing'],
  ['an error that is not a string', sends('{"error":17}'), 'Bad Request'],
  ['an empty error', sends('{"error":" "}'), 'Bad Request'],
  ['a nested error', sends('{"error":{"message":"Nested."}}'), 'Nested.'],
  ['a message', sends('{"message":"Not Found"}'), 'Not Found'],
  ['a problem document', sends('{"title":"T","detail":"D"}'), 'D'],
  ['a long text', sends('x'.repeat(10_000), 'text/plain'), 'x'.repeat(500)],
])('%s as the body is no obstacle', async (_reason, answer, message) => {
  const error = await decode(answer);
  expect([error?.statusCode, error?.message, error?.code]).toEqual([400, message, undefined]);
});

test('a status without a phrase still has a message', async () => {
  const error = await decode((response) => void response.writeHead(499, '').end());
  expect(error?.message).toBe('HTTP status 499');
});

test('members of the wrong type are left out', async () => {
  const error = await decode(sends('{"error":"No.","code":7,"field":[],"requestId":{}}'));
  expect([error?.code, error?.field, error?.requestId, error?.retryAfter]).toEqual(Array(4).fill(undefined));
});

test('the request id is read from the header when the body has none', async () => {
  const error = await decode((response) => sendJson(response, 500, {}, { 'X-Request-Id': 'q2' }));
  expect(error?.requestId).toBe('q2');
});

test('a wait that makes no sense is none', async () => {
  const error = await decode((response) => sendJson(response, 503, {}, { 'Retry-After': 'soon' }));
  expect(error?.retryAfter).toBeUndefined();
});
