/** Two servers on one PostgreSQL behind HAProxy and nginx, restarted one after the other under load. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../src/accounts/accounts.js';
import { openDatabase } from '../src/storage/open-database.js';
import { spawnNode } from '../tests/child-process.js';
import { findFreePort } from '../tests/contract/free-port.js';
import { startPostgres } from './postgres.js';
import { toTable } from './table.js';

const PROXIES = ['haproxy', 'nginx'] as const;
type ProxyName = (typeof PROXIES)[number];

const CLIENTS = 12;

interface RestartOptions {
  /** The number of times that both servers are restarted. */
  readonly rounds: number;
}

/** Returns a Markdown table: the requests of each proxy, those that failed, and their statuses. */
async function benchRestarts({ rounds }: RestartOptions): Promise<string> {
  const postgres = await startPostgres();
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-restart-'));
  try {
    const rows = [];
    for (const name of PROXIES)
      rows.push(await measure(name, { rounds, folder: path.join(folder, name), url: postgres.url }));
    return toTable(['proxy', 'restarts', 'requests', 'writes', 'failed', 'failures'], rows);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(
  name: ProxyName,
  { rounds, folder, url }: RestartOptions & { readonly folder: string; readonly url: string },
): Promise<string[]> {
  const ports = [await findFreePort(), await findFreePort()];
  const proxyPort = await findFreePort();
  // Both proxies use the same servers' folders, because the database accepts one key.
  const states = ['one', 'two'].map((server) => path.join(path.dirname(folder), server));
  for (const state of states) await mkdir(state, { recursive: true, mode: 0o700 });
  await mkdir(folder, { recursive: true });
  const cookie = await signIn(url, name);
  const env = { DATABASE_URL: url, PUBLIC_URL: `http://127.0.0.1:${proxyPort}` };
  const begin = (index: number) => startServer(ports[index] ?? 0, states[index] ?? '', env);
  const servers = [await begin(0)];
  await copyFile(path.join(states[0] ?? '', 'server.key'), path.join(states[1] ?? '', 'server.key'));
  servers.push(await begin(1));
  const proxy = await startProxy(name, { folder, port: proxyPort, ports });
  const load = startLoad(`http://127.0.0.1:${proxyPort}`, cookie);
  await sleep(3_000);
  for (let round = 0; round < rounds; round += 1) {
    for (const index of [0, 1]) {
      const server = servers[index];
      if (server === undefined) continue;
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      servers[index] = await begin(index);
      // The proxy has to see the server again before the other one stops.
      await sleep(4_000);
    }
  }
  const { requests, writes, failures } = await load.stop();
  proxy.kill('SIGTERM');
  for (const server of servers) server.kill('SIGKILL');
  const reasons = [...failures].map(([reason, times]) => `${times} × ${reason}`).join(', ');
  const failed = [...failures.values()].reduce((sum, times) => sum + times, 0);
  return [name, String(rounds * 2), String(requests), String(writes), String(failed), reasons];
}

async function signIn(url: string, username: string): Promise<string> {
  const database = await openDatabase({ url });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username, displayName: username });
  const session = await accounts.sessions.start(id);
  await database.destroy();
  return `trellis_session=${session}`;
}

/** Starts a server, and waits until it is ready. */
async function startServer(port: number, state: string, own: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const args = ['dist/cli.js', 'serve', '--port', String(port), '--state', state, '--services', 'site,dashboard'];
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

async function startProxy(
  name: ProxyName,
  { folder, port, ports }: { readonly folder: string; readonly port: number; readonly ports: readonly number[] },
): Promise<ChildProcess> {
  const file = path.join(folder, `${name}.conf`);
  await writeFile(file, name === 'haproxy' ? haproxy(port, ports) : nginx(folder, port, ports));
  const args = name === 'haproxy' ? ['-db', '-f', file] : ['-c', file, '-p', folder];
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (response?.status === 200) return child;
    await sleep(100);
  }
}

/** The proxy asks for the readiness every second, and leaves a server after two failures: within 2 of the 5 seconds. */
const haproxy = (port: number, ports: readonly number[]): string => `
defaults
  mode http
  timeout connect 2s
  timeout client 65s
  timeout server 65s
  option http-keep-alive
  option redispatch
  retries 3
  retry-on conn-failure empty-response
frontend web
  bind 127.0.0.1:${port}
  default_backend trellis
backend trellis
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 1s fall 2 rise 1
${ports.map((target, index) => `  server s${index} 127.0.0.1:${target}`).join('\n')}
`;

/** nginx has no health checks of its own: it tries the other server when a connection is refused. */
const nginx = (folder: string, port: number, ports: readonly number[]): string => `
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream trellis {
${ports.map((target) => `    server 127.0.0.1:${target} max_fails=1 fail_timeout=2s;`).join('\n')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://trellis;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_next_upstream error timeout;
    }
  }
}
`;

interface Load {
  stop(): Promise<{
    readonly requests: number;
    readonly writes: number;
    readonly failures: ReadonlyMap<string, number>;
  }>;
}

/** Sends requests of several kinds, one after the other for each client. */
function startLoad(origin: string, cookie: string): Load {
  const failures = new Map<string, number>();
  let isOver = false;
  let requests = 0;
  let writes = 0;
  const fail = (reason: string): void => void failures.set(reason, (failures.get(reason) ?? 0) + 1);
  const reads = ['/api/settings', '/graphql?query={allFile{totalCount}}', '/', '/api/auth/registration-status'];
  async function run(client: number): Promise<void> {
    for (let turn = client; !isOver; turn += 1) {
      const isWrite = turn % 5 === 0;
      const url = isWrite ? '/api/settings' : (reads[turn % reads.length] ?? '/');
      const write = { method: 'PUT', body: JSON.stringify({ theme: turn % 2 === 0 ? 'dark' : 'light' }) };
      const headers = { cookie, origin, 'content-type': 'application/json' };
      requests += 1;
      writes += isWrite ? 1 : 0;
      try {
        const response = await fetch(origin + url, { headers, ...(isWrite ? write : {}) });
        await response.arrayBuffer();
        if (!response.ok) fail(`${String(response.status)} of ${isWrite ? 'PUT' : 'GET'} ${url}`);
      } catch (error) {
        fail(`${String((error as Error).cause ?? error)} of ${url}`);
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

const [rounds = '2'] = process.argv.slice(2);
process.stdout.write(`${await benchRestarts({ rounds: Number(rounds) })}\n`);
