import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openContext } from '../../../src/commands/secrets/context.js';
import { createValueServer } from '../../../src/commands/secrets/webhook.js';
import { openJobToken } from '../../../src/commands/secrets/workload-token.js';
import { generateIdentity, toRecipients } from '../../../src/sealing/secrets.js';
import { createCliWorkloadRules } from '../../../src/secrets/workload/rules.js';
import { AUDIENCE, startOidcProvider } from '../../secrets/oidc-provider.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

const TOKEN = 'w'.repeat(32);

let cli: SecretsCli;
let server: Server;
let url: string;

beforeAll(async () => {
  cli = await openSecretsCli();
  server = createValueServer(await openSession(), TOKEN).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close().closeAllConnections();
  await cli.close();
});

const openSession = () =>
  openContext({}, { in: process.stdin, out: process.stdout, err: process.stderr, env: cli.env });

async function get(path: string, token = TOKEN) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: (await response.json()) as object };
}

async function put(value: Uint8Array | string, recipient = cli.recipient): Promise<string> {
  const name = newName();
  expect(await cli.run(['put', name, '--recipient', recipient], { stdin: value })).toMatchObject({ code: 0 });
  return name;
}

test('returns an opened value as External Secrets reads it, and records the read', async () => {
  const name = await put('hunter2\n');
  expect(await get(`/secrets/${name}`)).toEqual({ status: 200, body: { value: 'hunter2\n' } });
  const { data } = await cli.client.GET('/audit-log', { params: { query: { object_id: name } } });
  expect(data?.map(({ action }) => action)).toEqual(['create', 'read']);
});

test('returns bytes in base64 only', async () => {
  const name = await put(Buffer.from([0, 255]));
  expect(await get(`/secrets/${name}?encoding=base64`)).toEqual({ status: 200, body: { value: 'AP8=' } });
  expect(await get(`/secrets/${name}`)).toMatchObject({ status: 422 });
});

test.each(['', 'x', `${TOKEN}x`])('rejects the token %j, and reads nothing', async (token) => {
  const name = await put('hunter2');
  expect(await get(`/secrets/${name}`, token)).toEqual({ status: 401, body: { error: 'unauthenticated' } });
  const { data } = await cli.client.GET('/audit-log', { params: { query: { object_id: name } } });
  expect(data).toHaveLength(1);
});

test('reports unknown names, other paths, and values of other recipients', async () => {
  expect(await get('/secrets/unknown')).toEqual({ status: 404, body: { error: 'unknown object' } });
  expect(await get('/secrets/..%2fconsumers')).toMatchObject({ status: 404 });
  const [other = ''] = await toRecipients(await generateIdentity());
  const { status, body } = await get(`/secrets/${await put('hunter2', other)}`);
  expect([status, body]).toEqual([502, { error: "This identity can't decrypt the value" }]);
});

test.each(['//', '*', 'http://['])('survives a request for %s', async (path) => {
  const request = httpRequest(url, { path, headers: { authorization: `Bearer ${TOKEN}` } }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(404);
});

test('the token of a job is exchanged again before it ends, and stays in use while the issuer fails', async () => {
  const provider = await startOidcProvider();
  const name = newName();
  await createCliWorkloadRules(cli.database).put(
    { caller: 'machine', ip: 'here', at: Date.now() },
    {
      ...{ name, issuer: provider.issuer, audience: AUDIENCE, singleUse: false, ttlSeconds: 60 },
      ...{ claims: [{ name: 'repository', patterns: ['acme/shop'] }], consumer: cli.consumer },
    },
  );
  const file = join(cli.folder, newName());
  await writeFile(file, await provider.issue());
  let now = 0;
  const job = await openJobToken(cli.server, { TRELLIS_SECRETS_ID_TOKEN_FILE: file }, () => now);
  const first = job.text;
  now += 29_000;
  expect(await job.renewed()).toBe(first);
  now += 1_000;
  const [second, same] = await Promise.all([job.renewed(), job.renewed()]);
  expect([second === first, same === second, job.text === second]).toEqual([false, true, true]);
  await writeFile(file, 'invalid');
  now += 59_000;
  expect(await job.renewed()).toBe(second);
  now += 10_000;
  await expect(job.renewed()).rejects.toThrow('The service issued no token for this job');
  const { out } = await cli.run(['audit']);
  expect(out).toContain(`(rule ${name}, workload repo:acme/shop:ref:refs/heads/main, issuer ${provider.issuer})`);
  expect(out).toContain('request exchangeToken (invalid_input)');
  await provider.close();
});

test('requires a token of 32 characters, and an address', async () => {
  const session = await openSession();
  expect(() => createValueServer(session, 'x'.repeat(31))).toThrow('at least 32 characters');
  expect(await cli.run(['webhook', '--listen', 'x'])).toMatchObject({ code: 2 });
});

test('reports an invalid port, and one that is in use', async () => {
  const env = { TRELLIS_SECRETS_WEBHOOK_TOKEN: TOKEN };
  const invalid = await cli.run(['webhook', '--listen', '127.0.0.1:65536'], { env });
  expect([invalid.code, invalid.err]).toEqual([2, expect.stringContaining('Expected --listen')]);
  const used = new URL(url).host;
  const { code, err } = await cli.run(['webhook', '--listen', used], { env });
  expect([code, err]).toEqual([1, `trellis: Can't listen on ${used}: EADDRINUSE\n`]);
});
