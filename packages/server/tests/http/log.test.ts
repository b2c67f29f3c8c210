import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createStartupListener } from '../../src/http/admission.js';
import { createLog, nameRequest, requestContext } from '../../src/http/request.js';
import { createLineOutput, formatLogLine } from '../../src/http/terminal-log.js';

test.each([
  ['at the top', { authorization: 'S3CRET', cookie: 'S3CRET', 'set-cookie': 'S3CRET' }],
  ['among headers', { headers: { authorization: 'S3CRET', cookie: 'S3CRET', 'set-cookie': ['S3CRET'] } }],
  ['in a request', { req: { headers: { authorization: 'S3CRET', cookie: 'S3CRET' } } }],
])('log: redacts credentials %s', (_place, fields) => {
  let written = '';
  createLog({ level: 'info', destination: { write: (line) => (written += line) } }).info(fields);
  expect(written).toContain('[redacted]');
  expect(written).not.toContain('S3CRET');
});

test('log: omits lines below its level', () => {
  let written = '';
  createLog({ level: 'warn', destination: { write: (line) => (written += line) } }).info('hello');
  expect(written).toBe('');
});

type Line = Readonly<Record<string, unknown>>;

function collectLog(level = 'info') {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  return { lines, log: createLog({ level, destination }) };
}

/** Sends one request to a server with a listener, and returns its headers. */
async function ask(listener: Parameters<typeof createServer>[1], headers: Readonly<Record<string, string>> = {}) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/people/zoe?secret=1`, { headers });
  await response.text();
  await new Promise((resolve) => server.close(resolve));
  return response.headers;
}

function createApp(options: Parameters<typeof requestContext>[0]) {
  const app = express().use(requestContext(options));
  return app.get('/people/:name', (_request, response) => {
    nameRequest(response, { operation: 'getPerson', route: '/people/{name}' });
    response.send('x'.repeat(1000));
  });
}

describe('the line of a request', () => {
  test('has the path template instead of the path, the client, and the bytes', async () => {
    const { lines, log } = collectLog();
    await ask(createApp({ log }));
    expect(lines).toEqual([
      expect.objectContaining({ operation: 'getPerson', route: '/people/{name}', client: '127.0.0.1', status: 200 }),
    ]);
    expect(Number(lines[0]?.bytes)).toBeGreaterThan(1000);
    expect(JSON.stringify(lines)).not.toMatch(/zoe|secret/);
  });

  test.each([
    ['a proxy that is trusted', true, 'proxy-id-0123', true],
    ['a client', false, 'proxy-id-0123', false],
    ['a proxy, but not an id', true, 'two words', false],
    ['a proxy, but too long', true, 'x'.repeat(129), false],
  ])('has the id from %s: %s', async (_of, trustsRequestIds, id, isUsed) => {
    const { lines, log } = collectLog();
    const headers = await ask(createApp({ log, trustsRequestIds }), { 'X-Request-Id': id });
    expect(headers.get('x-request-id') === id).toBe(isUsed);
    expect(lines[0]?.requestId).toBe(headers.get('x-request-id'));
  });

  test('follows the level of the log when that changes', async () => {
    const { lines, log } = collectLog('warn');
    const app = createApp({ log });
    await ask(app);
    log.level = 'info';
    await ask(app);
    expect(lines).toHaveLength(1);
  });

  test('is written for a request that arrives during the start', async () => {
    const { lines, log } = collectLog();
    const headers = await ask(createStartupListener({ log }).listener);
    expect(lines).toEqual([
      expect.objectContaining({ requestId: headers.get('x-request-id'), method: 'GET', status: 503 }),
    ]);
  });
});

describe('on a terminal', () => {
  const time = new Date(2026, 10, 23, 14, 3, 22).getTime();

  test.each([
    ['a message', { level: 30, msg: 'Ready.' }, '14:03:22 Ready.\n'],
    ['a warning', { level: 40, msg: 'Look out.' }, '14:03:22 Warning: Look out.\n'],
    [
      'a request',
      {
        level: 30,
        method: 'GET',
        route: '/graphql',
        status: 200,
        milliseconds: 3.1,
        operation: 'graphql',
        queryName: 'A',
      },
      '14:03:22 GET /graphql 200 3.1 ms (graphql A)\n',
    ],
    [
      'an error',
      { level: 50, msg: 'internal error', err: { type: 'Error', message: 'no', stack: 'Error: no\n  at a.js' } },
      '14:03:22 Error: internal error\nError: no\n  at a.js\n',
    ],
    [
      'a text of others, without control characters,',
      { level: 50, msg: 'a\u001b[2J', err: { type: 'Error', message: '', stack: 'Error: \u009b2J\u202e\n\tat a.js' } },
      '14:03:22 Error: a\\u001b[2J\nError: \\u009b2J\\u202e\n\tat a.js\n',
    ],
  ])('%s is shown as text', (_what, line, text) => {
    expect(formatLogLine(JSON.stringify({ time, ...line }))).toBe(text);
  });
});

test('createLineOutput writes lines of text to the log', () => {
  const { lines, log } = collectLog();
  createLineOutput(log).write('Warning: a\nb\n');
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, 'a'],
    [30, 'b'],
  ]);
});
