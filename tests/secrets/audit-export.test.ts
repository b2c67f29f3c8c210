import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { createExport, createPositionExport } from '../../src/secrets/audit/archive.js';
import { appendAuditEntry, readAuditHead } from '../../src/secrets/audit/chain.js';
import { isCheckpointSigned, useAuditKey } from '../../src/secrets/audit/signatures.js';
import { openBackupTarget } from '../../src/storage/backups/target.js';
import type { Database } from '../../src/storage/database.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { openTestDatabase } from '../storage/engine.js';

let database: Database;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-positions-'));
  database = await openTestDatabase();
  useAuditKey(database, createServerKey('k'.repeat(43)));
});
afterAll(async () => {
  await database.destroy();
  await rm(folder, { recursive: true });
});

/** A folder takes the place of a bucket; the tests of buckets have the same target. */
const openTarget = () => openBackupTarget(folder, { folder, env: {} });

const record = () =>
  appendAuditEntry(
    database,
    { action: 'create', subjectType: 'consumer', subjectId: 'acme/shop' },
    { caller: 'machine', ip: '', at: 0 },
  );

const exportTo = (...places: string[]) =>
  createPositionExport(
    database,
    places.map((place) => createExport(place, openTarget)),
    () => 0,
  );

async function expected() {
  const { count: entries, hash: head } = await readAuditHead(database);
  return { time: '1970-01-01T00:00:00.000Z', entries, head, signature: expect.any(String) as string };
}

test('a file gets a signed line for each new end of the log', async () => {
  const file = join(folder, 'audit/positions.jsonl');
  const run = exportTo(file);
  await record();
  await run();
  const first = await expected();
  await run();
  await record();
  await run();
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const positions = lines.map((line) => JSON.parse(line) as { entries: number; head: string; signature: string });
  expect(positions).toEqual([first, await expected()]);
  for (const { entries: count, head: hash, signature } of positions) {
    expect(isCheckpointSigned(database, { count, hash }, signature)).toBe(true);
    expect(isCheckpointSigned(database, { count: count + 1, hash }, signature)).toBe(false);
  }
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a bucket gets an object for each end of the log', async () => {
  await record();
  await exportTo('s3://bucket/audit')();
  const { count } = await readAuditHead(database);
  const name = `trellis-audit-position-${String(count).padStart(12, '0')}.json`;
  expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toEqual(await expected());
});

test('a webhook gets the position, and a failed place is tried again', async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.writeHead(bodies.length === 1 ? 503 : 204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const run = exportTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/audit?token=secret`);
  await record();
  await expect(run()).rejects.toThrow('The receiver of audit positions responded with status 503.');
  await run();
  expect(bodies.map((body) => JSON.parse(body) as object)).toEqual([await expected(), await expected()]);
  server.close();
});

test('a webhook gets the user name and the password of its URL as a header', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await record();
  await exportTo(`http://me:p%40ss@127.0.0.1:${port}/`, `http://127.0.0.1:${port}/`)();
  const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  expect(new Set(seen)).toEqual(new Set([basic, undefined]));
  server.close();
});

test.each([
  ['has credentials and a port that is not allowed', 'http://me:hidden@127.0.0.1:6000/'],
  ['has credentials that are not encoded', 'http://me:%hidden@127.0.0.1:1/'],
  ['cannot be reached', 'http://127.0.0.1:1/hidden'],
  ['is not valid', 'http://127.0.0.1:port/hidden'],
])('a webhook whose URL %s fails with an error that does not contain the URL', async (_reason, url) => {
  await record();
  const error: unknown = await exportTo(url)().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AggregateError);
  expect(inspect(error, { depth: 9 })).not.toContain('hidden');
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

test.each([
  ['udp4', '127.0.0.1', '127.0.0.1'] as const,
  // Some containers have no IPv6.
  ...(hasIpv6 ? [['udp6', '::1', '[::1]'] as const] : []),
])('syslog gets a message of RFC 5424 over %s', async (type, address, host) => {
  const socket = createSocket(type).bind(0, address);
  await once(socket, 'listening');
  await record();
  const received = once(socket, 'message');
  await exportTo(`syslog://${host}:${socket.address().port}`)();
  const [message] = (await received) as [Buffer];
  const [, start, body = ''] = /^(<109>1 \S+ \S+ trellis - audit-position - )(.*)$/.exec(message.toString()) ?? [];
  expect([start === undefined, JSON.parse(body)]).toEqual([false, await expected()]);
  socket.close();
});
