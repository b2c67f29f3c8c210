import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { AppError } from '@trellis/core/errors';
import { deferBody, readBodyBytes } from '../../src/http/body.js';
import { addForwardedAddress, createLog } from '../../src/http/request.js';
import { createHttpServer } from '../../src/http/server.js';
import { readMultipart } from '../../src/rest/forms.js';

const MIB = 2 ** 20;
const SPEC = { required: true, contentTypes: ['text/plain'], maxBytes: 8 * MIB };
const FORM_START = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n';
const FORM_END = '\r\n--b--\r\n';

type ReadBody = (request: IncomingMessage) => Promise<unknown>;

let read: ReadBody;
const server = createHttpServer(
  (request, response) => {
    addForwardedAddress(request, 1);
    read(request).then(
      () => response.end(),
      (error: unknown) => {
        const { status, code, headers } = error as AppError;
        response.writeHead(status, headers).end(code);
      },
    );
  },
  { log: createLog({ level: 'silent' }) },
);
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close());

interface Body {
  readonly type: string;
  readonly start: string;
  readonly end: string;
}

const TEXT: Body = { type: 'text/plain', start: '', end: '' };
const FORM: Body = { type: 'multipart/form-data; boundary=b', start: FORM_START, end: FORM_END };

/** Sends a request with a body of about some bytes; without its end, if only a part is sent. */
function open(
  client: string,
  { type, start, end }: Body,
  { bytes, isPart = false }: { bytes: number; isPart?: boolean },
) {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  const head = ['Host: x', `X-Forwarded-For: ${client}`, `Content-Type: ${type}`, 'Connection: close'];
  const length = start.length + bytes + end.length + (isPart ? 1 : 0);
  socket.write(`POST / HTTP/1.1\r\n${[...head, `Content-Length: ${length}`].join('\r\n')}\r\n\r\n${start}`);
  socket.write(Buffer.alloc(bytes, 'x'));
  socket.write(isPart ? '' : end);
  return socket;
}

async function receive(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** Receives the first responses of several requests. */
function receiveFirst(sockets: readonly Socket[], count: number): Promise<string[]> {
  const texts: string[] = [];
  return new Promise((resolve, reject) => {
    const add = (text: string): void => {
      if (texts.push(text) === count) resolve(texts);
    };
    for (const socket of sockets) receive(socket).then(add, reject);
  });
}

const send = (client: string, body: Body, bytes: number): Promise<string> => receive(open(client, body, { bytes }));

test.each<[string, Body, ReadBody]>([
  ['bytes', TEXT, (request) => readBodyBytes(request, SPEC)],
  ['bytes that are read later', TEXT, (request) => deferBody(request, SPEC)()],
  ['forms', FORM, (request) => readMultipart(request, { fields: [], maxBytes: 8 * MIB })],
])(
  'bodies of a client with 64 MiB of incomplete %s are rejected, unless they are short',
  async (_what, body, given) => {
    read = given;
    // All have the same size, so that the others leave too little for each of them.
    const bytes = 8 * MIB - 1_000;
    const sockets = Array.from({ length: 10 }, () => open('2001:db8::1', body, { bytes, isPart: true }));
    // There is room for eight.
    for (const response of await receiveFirst(sockets, 2)) expect(response).toMatch(/^HTTP\/1\.1 503 /);
    const rejected = await send('2001:db8::2', body, bytes);
    expect(rejected).toMatch(/^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/);
    expect(rejected).toMatch(/\r\nRetry-After: 5\r\n[^]*unavailable/);
    await expect(send('2001:db8::2', body, 10_000)).resolves.toMatch(/^HTTP\/1\.1 200 /);
    await expect(send('2001:db8:0:1::1', body, bytes)).resolves.toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
    while (!(await send('2001:db8::2', body, bytes)).startsWith('HTTP/1.1 200 '));
  },
);
