import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientOptions, createClient } from '../src/create-client.js';

/** A small contract in the form that openapi-typescript generates. */
export interface NotePaths {
  '/notes': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { offset?: number; limit?: number } };
      responses: { 200: { content: { 'application/json': string[] } } };
    };
    post: {
      parameters: { query?: never };
      requestBody: { content: { 'application/json': { text: string } } };
      responses: { 201: { content: { 'application/json': { id: number } } } };
    };
  };
  '/entries': {
    get: {
      parameters: { query?: { after?: number; limit?: number } };
      responses: { 200: { content: { 'application/json': { id: number }[] } } };
    };
  };
}

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly at: number;
}

/** Responds to the nth request, starting at 0. The body of the request has been read. */
export type Responder = (response: ServerResponse, nth: number, seen: SeenRequest) => void;

/** Starts an HTTP server on a free port that records its requests. */
export async function serveNotes(respond: Responder) {
  const seen: SeenRequest[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    const entry = { method, url, headers, body, at: performance.now() };
    seen.push(entry);
    respond(response, seen.length - 1, entry);
  };
  const server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type NotesServer = Awaited<ReturnType<typeof serveNotes>>;

export const notesContract = { revision: 'r1', product: 'notes', tokenVariable: 'NOTES_TOKEN' };

/** Creates a client with short waits between attempts, so that tests are fast. */
export function createNotesClient(baseUrl: string, { retry, ...options }: ClientOptions = {}) {
  return createClient<NotePaths>(
    { ...notesContract, baseUrl },
    { ...options, retry: { baseDelayMs: 4, maxRetryAfterMs: 60, ...retry } },
  );
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}
