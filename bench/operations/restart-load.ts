/**
 * Two servers on one PostgreSQL behind HAProxy and nginx with the examples of `deploy/`, restarted one after the other
 * under load.
 *
 * Usage: npm run bench:restarts -- [rounds] [proxy]...
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { createAccounts } from '../../src/accounts/accounts.js';
import { issueToken } from '../../src/accounts/bearer-tokens.js';
import { seal } from '../../src/sealing/seal.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { spawnNode } from '../../tests/child-process.js';
import { findFreePort } from '../../tests/contract/free-port.js';
import { startPostgres } from '../postgres.js';
import { toTable } from '../table.js';

const PROXIES = ['haproxy', 'nginx'] as const;
type ProxyName = (typeof PROXIES)[number];

const CLIENTS = 12;

/** Returns a Markdown table: the requests of each proxy, those that failed, and their statuses. */
async function benchRestarts(proxies: readonly ProxyName[], rounds: number): Promise<string> {
  const postgres = await startPostgres();
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-restart-'));
  try {
    const rows = [];
    // The first user owns the secrets.
    const credentials = await signIn(postgres.url);
    for (const name of proxies) {
      const own = { ...credentials, run: name };
      rows.push(await measure(name, { rounds, credentials: own, folder: path.join(folder, name), url: postgres.url }));
    }
    return toTable(['proxy', 'restarts', 'requests', 'writes', 'failed', 'failures'], rows);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface MeasureOptions {
  /** The number of times that both servers are restarted. */
  readonly rounds: number;
  readonly credentials: Credentials;
  readonly folder: string;
  readonly url: string;
}

async function measure(name: ProxyName, { rounds, credentials, folder, url }: MeasureOptions): Promise<string[]> {
  const ports = [await findFreePort(), await findFreePort()];
  const proxyPort = await findFreePort();
  // Both proxies use the same servers' folders, because the database accepts one key.
  const states = ['one', 'two'].map((server) => path.join(path.dirname(folder), server));
  for (const state of states) await mkdir(state, { recursive: true, mode: 0o700 });
  await mkdir(folder, { recursive: true });
  const env = { DATABASE_URL: url, PUBLIC_URL: `http://127.0.0.1:${proxyPort}` };
  const begin = (index: number) => startServer(ports[index] ?? 0, states[index] ?? '', env);
  const servers = [await begin(0)];
  await copyFile(path.join(states[0] ?? '', 'server.key'), path.join(states[1] ?? '', 'server.key'));
  servers.push(await begin(1));
  const proxy = await startProxy(name, { folder, port: proxyPort, ports });
  const origin = `http://127.0.0.1:${proxyPort}`;
  await createSecret(origin, credentials);
  const load = startLoad(origin, credentials);
  await sleep(3_000);
  for (let round = 0; round < rounds; round += 1) {
    for (const index of [0, 1]) {
      const server = servers[index];
      if (server === undefined) continue;
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      servers[index] = await begin(index);
      await proxy.seesAll();
    }
  }
  const { requests, writes, failures } = await load.stop();
  proxy.child.kill('SIGTERM');
  for (const server of servers) server.kill('SIGKILL');
  const reasons = [...failures].map(([reason, times]) => `${times} × ${reason}`).join(', ');
  const failed = [...failures.values()].reduce((sum, times) => sum + times, 0);
  return [name, String(rounds * 2), String(requests), String(writes), String(failed), reasons];
}

interface Credentials {
  readonly cookie: string;
  readonly token: string;
  /** A sealed value in base64. */
  readonly value: string;
  /** The name of the run, which is unique. */
  readonly run: string;
}

/** Creates a user with a session, and a write token. */
async function signIn(url: string): Promise<Omit<Credentials, 'run'>> {
  const username = 'ada';
  const database = await openDatabase({ url });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username, displayName: username });
  const session = await accounts.sessions.start(id);
  const { token } = await issueToken(database, {
    ...{ kind: 'write', personId: id, label: username, scopes: ['read', 'write'] },
    ...{ createdAt: Date.now(), expiresAt: new Date(Date.now() + 3_600_000) },
  });
  await database.destroy();
  const recipient = await identityToRecipient(await generateX25519Identity());
  const value = Buffer.from(await seal('a value', [recipient])).toString('base64');
  return { cookie: `trellis_session=${session}`, token, value };
}

/** Creates the secret that the load replaces. */
async function createSecret(origin: string, { token, value, run }: Credentials): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ slug: run, value });
  const response = await fetch(`${origin}/secrets/objects`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(await response.text());
}

/** Starts a server, and waits until it is ready. */
async function startServer(port: number, state: string, own: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const args = [
    'dist/cli.js',
    'serve',
    '--port',
    String(port),
    '--state',
    state,
    '--services',
    'site,dashboard,secrets',
  ];
  const env = { ...process.env, NODE_ENV: 'production', ...own, TRUST_PROXY: '1', TRELLIS_RATE_LIMIT: '0' };
  const child = spawnNode(args, { env: { ...env, LOG_LEVEL: 'error' } });
  child.stdout.resume();
  child.stderr.resume();
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (response?.status === 200) return child;
    await sleep(100);
  }
}

interface Proxy {
  readonly child: ChildProcess;
  /** Waits until the proxy uses both servers again, as a deployment has to before it stops the other one. */
  readonly seesAll: () => Promise<void>;
}

async function startProxy(
  name: ProxyName,
  { folder, port, ports }: { readonly folder: string; readonly port: number; readonly ports: readonly number[] },
): Promise<Proxy> {
  const file = path.join(folder, `${name}.conf`);
  const statistics = await findFreePort();
  const ownHaproxyFile = async (): Promise<string> =>
    `${await toHaproxyFile(port, ports)}\nfrontend statistics\n  bind 127.0.0.1:${statistics}\n  stats uri /\n`;
  await writeFile(file, await (name === 'haproxy' ? ownHaproxyFile() : toNginxFile(folder, port, ports)));
  const args = name === 'haproxy' ? ['-db', '-f', file] : ['-c', file, '-p', folder];
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const isUp = async (): Promise<boolean> => {
    const lines = (await (await fetch(`http://127.0.0.1:${statistics}/;csv`)).text()).split('\n');
    return lines.filter((line) => /^trellis,(one|two),.*,UP,/.test(line)).length === 2;
  };
  async function seesAll(): Promise<void> {
    // nginx has no health checks: it tries a server again after the 2 seconds of `fail_timeout`.
    if (name === 'nginx') await sleep(4_000);
    else while (!(await isUp())) await sleep(100);
  }
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (response?.status === 200) return { child, seesAll };
    await sleep(100);
  }
}

const EXAMPLES = path.join(import.meta.dirname, '../../deploy');

/** Returns the example of `deploy/` for two servers, without TLS. */
async function toHaproxyFile(port: number, ports: readonly number[]): Promise<string> {
  const example = await readFile(path.join(EXAMPLES, 'haproxy.cfg'), 'utf8');
  return example
    .replace('bind :80\n', `bind 127.0.0.1:${port}\n`)
    .replace(/^ *bind :443 .*\n/mu, '')
    .replace(/^ *http-request redirect .*\n/mu, '')
    .replace('server one 127.0.0.1:4000', `server one 127.0.0.1:${ports[0]}`)
    .replace('# server two 127.0.0.1:4001', `server two 127.0.0.1:${ports[1]}`);
}

/** Returns the example of `deploy/` for two servers, without TLS, in a file with the rest that nginx needs. */
async function toNginxFile(folder: string, port: number, ports: readonly number[]): Promise<string> {
  const example = await readFile(path.join(EXAMPLES, 'nginx.conf'), 'utf8');
  const site = example
    .replace(/server \{\n {4}listen 80;[^}]+\}\n/u, '')
    .replace('listen [::]:443 ssl http2;', '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gmu, '')
    .replace('/var/cache/nginx/trellis', path.join(folder, 'cache'))
    .replace('server 127.0.0.1:4000', `server 127.0.0.1:${ports[0]}`)
    .replace('# server 127.0.0.1:4001', `server 127.0.0.1:${ports[1]}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http { access_log off; ${temporary.join(' ')}
${site}
}
`;
}

interface Load {
  stop(): Promise<{
    readonly requests: number;
    readonly writes: number;
    readonly failures: ReadonlyMap<string, number>;
  }>;
}

type Kind = (turn: number) => { readonly path: string; readonly init: RequestInit };

/** Returns the kinds of requests: five that read, and as many that write. */
function toKinds(origin: string, { cookie, token, value, run }: Credentials): [Kind, ...Kind[]] {
  const session = { cookie, origin, 'content-type': 'application/json' };
  const bearer = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const read = (target: string, headers: Record<string, string> = session): Kind => {
    return () => ({ path: target, init: { headers } });
  };
  const write =
    (method: string, target: string, headers: Record<string, string>, toBody: (turn: number) => object): Kind =>
    (turn) => {
      const own: Record<string, string> = method === 'POST' ? { 'idempotency-key': `${run}-${turn}` } : {};
      return { path: target, init: { method, headers: { ...headers, ...own }, body: JSON.stringify(toBody(turn)) } };
    };
  const toSlug = (turn: number): string => `restarts-${run}-${turn}`;
  return [
    read('/api/settings'),
    write('PUT', '/api/settings/theme', session, (turn) => ({ theme: turn % 2 === 0 ? 'dark' : 'light' })),
    read(`/graphql?query=${encodeURIComponent('{ allFile { totalCount } }')}`),
    write('PUT', `/secrets/objects/${run}`, bearer, () => ({ value })),
    read('/'),
    write('POST', '/secrets/objects', bearer, (turn) => ({ slug: toSlug(turn), value })),
    read(`/secrets/objects/${run}`, bearer),
    write('PUT', '/api/settings/filter-state', session, (turn) => ({ turn })),
    read('/api/auth/registration-status'),
    write('POST', '/graphql', session, () => ({ query: '{ allDirectory { totalCount } }' })),
  ];
}

/** Sends requests of several kinds, one after the other for each client. */
function startLoad(origin: string, credentials: Credentials): Load {
  const failures = new Map<string, number>();
  let isOver = false;
  let requests = 0;
  let writes = 0;
  const fail = (reason: string): void => void failures.set(reason, (failures.get(reason) ?? 0) + 1);
  const kinds = toKinds(origin, credentials);
  async function run(client: number): Promise<void> {
    for (let turn = client; !isOver; turn += CLIENTS) {
      const send = kinds[turn % kinds.length] ?? kinds[0];
      const { path: target, init } = send(turn);
      const { method = 'GET' } = init;
      requests += 1;
      writes += method === 'GET' || target === '/graphql' ? 0 : 1;
      try {
        const response = await fetch(origin + target, init);
        const text = await response.text();
        if (!response.ok) fail(`${response.status} of ${method} ${target.split('?')[0]} (${text.slice(0, 80)})`);
      } catch (error) {
        fail(`${String((error as Error).cause ?? error)} of ${method} ${target.split('?')[0]}`);
      }
      await sleep(10);
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, client) => run(client));
  return {
    async stop() {
      isOver = true;
      await Promise.all(clients);
      return { requests, writes, failures };
    },
  };
}

const [rounds = '2', ...names] = process.argv.slice(2);
const proxies = PROXIES.filter((name) => names.length === 0 || names.includes(name));
process.stdout.write(`${await benchRestarts(proxies, Number(rounds))}\n`);
