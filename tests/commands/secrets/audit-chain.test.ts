import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { components } from '../../../src/generated/secrets/client.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

type Entry = components['schemas']['AuditLogEntry'];

let cli: SecretsCli;
/** A server that an attacker controls: it has the log of the real one, and reports what `falsify` makes of it as intact. */
let server: Server;
let url: string;
let falsify: (entries: Entry[]) => Entry[];
/** The home folder of the machine that verifies. */
let home: string;

beforeAll(async () => {
  cli = await openSecretsCli();
  server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    void readLog().then((all) => {
      const entries = falsify(all);
      const after = Number(query.get('after') ?? 0);
      const body = request.url?.includes('/verify')
        ? { ...VERIFIED, entries: entries.at(-1)?.id ?? 0, head: entries.at(-1)?.hash }
        : entries.filter(({ id }) => id > after);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secrets`;
});
afterAll(async () => {
  server.close();
  await cli.close();
});
beforeEach(() => {
  home = join(cli.folder, newName());
  falsify = (entries) => entries;
});

const VERIFIED = { intact: true, verified_from: 1, values: { verified: 0, unrecorded: 0, altered: [] } };

async function readLog(): Promise<Entry[]> {
  const params = { query: { chain: true, limit: 500 } };
  const { data = [] } = await cli.client.GET('/audit-log', { params });
  expect(data.length).toBeLessThan(500);
  return data;
}

const verify = (...args: string[]) =>
  cli.run(['audit', '--verify', ...args], { env: { HOME: home, TRELLIS_SECRETS_SERVER: url } });

const put = () => cli.run(['put', newName(), '--recipient', cli.recipient], { stdin: 'value' });

/** Computes ids and hashes again, as an attacker does who hides a change. */
function rewrite(entries: readonly Entry[]): Entry[] {
  let previous = '';
  return entries.map((entry, index) => {
    const own = { ...entry, id: index + 1 };
    const about = [own.variant_id, own.version, own.subject_id, own.previous_slug].map((value) => value ?? null);
    const source = [
      Date.parse(own.timestamp),
      own.ip,
      own.caller ?? null,
      own.actor_type ?? null,
      own.actor_id ?? null,
    ];
    const start = [previous, own.id, own.action, own.subject_type, own.object_id === '' ? null : own.object_id];
    const facts = own.facts === undefined ? [] : [own.facts];
    previous = createHash('sha256')
      .update(JSON.stringify([...start, ...about, ...source, ...facts]))
      .digest('hex');
    return { ...own, hash: previous };
  });
}

test('the log of an honest server is verified on this machine, and the contract describes its hashes', async () => {
  await put();
  const entries = await readLog();
  expect(rewrite(entries)).toEqual(entries);
  const { code, out, err } = await verify('--full');
  expect([code, err]).toEqual([0, expect.stringContaining('Values:')]);
  expect(out).toBe(`Intact: ${entries.length} entries, ${entries.length}:${entries.at(-1)?.hash ?? ''}\n`);
  await put();
  expect(await verify()).toMatchObject({
    code: 0,
    out: expect.stringContaining(`(verified from ${entries.length + 1}; --full verifies all)`) as string,
  });
});

const removeSecond = (entries: readonly Entry[]) => entries.filter(({ id }) => id !== 2);
const editSecond = (entries: readonly Entry[]) =>
  entries.map((entry) => (entry.id === 2 ? { ...entry, ip: '192.0.2.1' } : entry));

test.each<[attack: string, attack: typeof falsify, message: string]>([
  ['removes an entry', removeSecond, 'entry 2 is missing'],
  ['edits an entry', editSecond, 'entry 2 is changed'],
  ['reports a different head', (all) => all.map((entry) => ({ ...entry, hash: '0'.repeat(64) })), 'entry 1 is changed'],
])('a server that %s is found by a machine that has never verified the log', async (_attack, attack, message) => {
  await put();
  falsify = attack;
  const { code, out, err } = await verify();
  expect([code, out, err]).toEqual([1, '', expect.stringContaining(message)]);
  expect(err).not.toContain('backup');
});

const hideHashes = (entries: readonly Entry[]) => entries.map(({ hash: _hash, ...entry }) => entry as Entry);

test('a server that sends no hashes, as release 0.1.0, is not reported as one that altered the log', async () => {
  await put();
  falsify = hideHashes;
  const { code, out, err } = await verify();
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('the service sent no hashes')]);
  expect(err).not.toContain('altered');
});

test.each<[attack: string, attack: typeof falsify]>([
  ['removes an entry and computes the chain again', (all) => rewrite(removeSecond(all))],
  ['edits an entry and computes the chain again', (all) => rewrite(editSecond(all))],
  ['removes the newest entries', (all) => all.slice(0, -3)],
  ['starts a new log', (all) => rewrite(all.slice(-2))],
  ['hides the hashes', hideHashes],
])('a server that %s is found by a machine that has verified the log before', async (_attack, attack) => {
  await put();
  await put();
  expect(await verify()).toMatchObject({ code: 0 });
  await put();
  falsify = attack;
  for (const args of [[], ['--full']]) {
    const { code, out, err } = await verify(...args);
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('as computed on this machine\nIf a backup was')]);
  }
});

test('a log that ends earlier, as that of a restored backup, is verified after its position was deleted', async () => {
  await put();
  expect(await verify()).toMatchObject({ code: 0 });
  falsify = (all) => all.slice(0, -1);
  const { code, err } = await verify();
  const [, file = ''] = /delete the position of this service in (.*)\n/.exec(err) ?? [];
  expect([code, file]).toEqual([1, expect.stringContaining(home)]);
  await rm(file);
  expect(await verify()).toMatchObject({ code: 0 });
});

test('an attack before the first verification of a machine is not found', async () => {
  falsify = (all) => rewrite(removeSecond(all));
  expect(await verify('--full')).toMatchObject({ code: 0 });
});
