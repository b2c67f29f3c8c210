import type { ServerResponse } from 'node:http';
import { type Responder, type NotesServer, sendJson, serveNotes } from '../../packages/client/tests/notes-server.js';

type Seen = Parameters<Responder>[2];

/** Sends only the start of the announced body, then resets the connection. */
function resetInBody(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' }).write('[{"id":');
  setTimeout(() => response.socket?.resetAndDestroy(), 20);
}

/** The public key of the identity in probe.js. */
const SHOP_KEY = 'age1td08gfv8gzwxa6zstj8uph89wklqc92e78j8nrhv0kdqrk0ms45q4dqp65';

/** The public key of a discarded identity. */
const OWNER_KEY = 'age18te958pylad5kzuzc3z02z88dj9zmm99p2swkn7k6dulvwp4j5ys5dwel4';

/** The search for a consumer also returns a consumer whose name contains the searched one. */
const toConsumer = (name: string, key: object) => ({
  [`/secrets/consumers?${new URLSearchParams({ q: name, page: '1', page_size: '100' })}`]: (response: ServerResponse) =>
    sendJson(response, 200, { consumers: [{ name: `not-${name}` }, { name, ...key }], total: 2 }),
});

/** The response for each path; `nth` counts the earlier requests to it. */
const RESPONSES: Readonly<Record<string, (response: ServerResponse, nth: number, seen: Seen) => void>> = {
  '/api/version': (response, nth) =>
    nth === 0
      ? sendJson(response, 429, {}, { 'Retry-After': '1' })
      : sendJson(response, 200, { version: '1.2.3' }, { 'X-Trellis-Revision': 'unknown' }),
  '/api/dashboard': (response) =>
    sendJson(response, 401, { error: 'Authentication required.', code: 'unauthenticated', requestId: 'q1' }),
  '/api/tokens?moved': (response, _nth, { body, headers }) =>
    sendJson(response, 201, { ...JSON.parse(body), key: headers['idempotency-key'] }),
  '/api/tokens': (response, nth, { method }) => {
    if (method === 'POST' && nth === 0) sendJson(response, 503, {});
    else if (method === 'POST') response.writeHead(307, { Location: '/api/tokens?moved' }).end();
    else if (nth === 2) resetInBody(response);
    else sendJson(response, 200, []);
  },
  '/api/settings': (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
  '/api/sharing': (response) => sendJson(response, 429, {}, { 'Retry-After': '30' }),
  '/secrets/objects?offset=0&limit=2': (response) =>
    sendJson(response, 200, [{ slug: 'a' }, { slug: 'b' }], { 'X-Total-Count': '3' }),
  '/secrets/objects?offset=2&limit=2': (response) => sendJson(response, 200, [{ slug: 'c' }], { 'X-Total-Count': '3' }),
  ...toConsumer('acme/shop', { public_key: SHOP_KEY }),
  ...toConsumer('web-1', {}),
  '/secrets/auth/identity': (response) => sendJson(response, 200, { public_key: OWNER_KEY }),
  '/secrets/objects': (response, _nth, { body }) => sendJson(response, 201, JSON.parse(body)),
  '/api/dashboard/stream': (response, nth, { headers }) => {
    const event = `id: e${nth}\ndata: ${JSON.stringify([headers['last-event-id'] ?? null])}\n\n`;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(event);
  },
  // The second connection sends the difference from the board of the first.
  '/api/dashboard/changes': (response, _nth, { headers }) => {
    const last = headers['last-event-id'];
    const change = last
      ? { from: last, set: {}, pullRequests: [{ start: 0, count: 1 }, { rows: [2] }] }
      : { board: { pullRequests: [1] } };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`id: ${last ? 'c1' : 'c0'}\ndata: ${JSON.stringify(change)}\n\n`);
  },
  '/api/admin/users': (response, _nth, { headers }) =>
    sendJson(response, 200, [headers.authorization?.replace('Bearer ', '') ?? null]),
};

/** Starts a server for one run of the probe; `files` are the files that it serves to browsers. */
export async function serveProbe(files: Readonly<Record<string, string>> = {}): Promise<NotesServer> {
  const counts = new Map<string, number>();
  return serveNotes((response, _nth, seen) => {
    const nth = counts.get(seen.url) ?? 0;
    counts.set(seen.url, nth + 1);
    const file = files[seen.url];
    const type = seen.url.endsWith('.js') ? 'text/javascript' : 'text/html';
    if (file !== undefined) response.writeHead(200, { 'Content-Type': type }).end(file);
    else if (RESPONSES[seen.url] === undefined) sendJson(response, 404, { error: `Nothing at ${seen.url}.` });
    else RESPONSES[seen.url]?.(response, nth, seen);
  });
}
