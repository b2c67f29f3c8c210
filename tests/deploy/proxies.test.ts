/** Runs the examples of `deploy/` with the proxies of Debian, in front of the built server. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { compileServer } from '../contract/compiled-server.js';
import { findFreePort } from '../contract/free-port.js';
import { eventually } from '../eventually.js';
import { githubPullRequest, githubRepository } from '../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../forges/github.js';
import { createTestFolder } from '../storage/engine.js';

const HOST = 'trellis.example.org';
const EXAMPLES = path.join(import.meta.dirname, '../../deploy');

let folder: string;
let github: TestGithub;
let server: ChildProcess;
let cookie: string;
let serverPort: number;

beforeAll(async () => {
  folder = await createTestFolder();
  const state = path.join(folder, 'state');
  await mkdir(state, { mode: 0o700 });
  const database = await openDatabase({ file: path.join(state, 'trellis.db') });
  const accounts = createAccounts(database, { origin: () => `https://${HOST}` });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  cookie = `__Host-trellis_session=${await accounts.sessions.start(id)}`;
  await database.destroy();
  github = await startGithub([githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] })]);
  serverPort = await findFreePort();
  const site = path.join(folder, 'site');
  await cp(path.join(import.meta.dirname, '../../examples/site'), site, { recursive: true });
  await writeFile(path.join(site, 'pages', 'film.mp4'), Buffer.alloc(2_000_000, 1));
  const args = [
    '--site',
    site,
    // Too small for a copy of the film.
    '--images-quota',
    '10MB',
    '--port',
    `${serverPort}`,
    '--state',
    state,
    '--public-url',
    `https://${HOST}`,
    '--trust-proxy',
    '1',
    '--drain-seconds',
    '0',
  ];
  server = await (await compileServer()).start(args, {});
  spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', `/CN=${HOST}`, '-keyout', path.join(folder, 'key.pem'), '-out', path.join(folder, 'cert.pem')],
  ]);
});
afterAll(async () => {
  await stop(server);
  await github.close();
});

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Starts nginx with the example, in which only paths and ports are replaced. */
async function startNginx(port: number, secondPort?: number): Promise<ChildProcess> {
  const example = (await readFile(path.join(EXAMPLES, 'nginx.conf'), 'utf8'))
    .replace(/server \{\n {4}listen 80;[^}]+\}\n/u, '')
    .replace('listen [::]:443 ssl http2;', '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`)
    .replace('/etc/ssl/trellis/fullchain.pem', path.join(folder, 'cert.pem'))
    .replace('/etc/ssl/trellis/privkey.pem', path.join(folder, 'key.pem'))
    .replace('/var/cache/nginx/trellis', path.join(folder, 'nginx-cache'))
    .replace('server 127.0.0.1:4000', `server 127.0.0.1:${serverPort}`)
    .replace('# server 127.0.0.1:4001', secondPort ? `server 127.0.0.1:${secondPort}` : '$&');
  await writeFile(path.join(folder, 'trellis.conf'), example);
  const main = path.join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    main,
    `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')} include trellis.conf; }`,
  );
  return spawn('nginx', ['-p', folder, '-c', main], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Starts HAProxy with the example, in which only paths and ports are replaced. */
async function startHaproxy(port: number): Promise<ChildProcess> {
  const pem = path.join(folder, 'trellis.pem');
  const parts = ['cert.pem', 'key.pem'].map((name) => readFile(path.join(folder, name), 'utf8'));
  await writeFile(pem, (await Promise.all(parts)).join(''));
  const example = (await readFile(path.join(EXAMPLES, 'haproxy.cfg'), 'utf8'))
    .replace(' bind :80\n', '\n')
    .replace('bind :443 ', `bind 127.0.0.1:${port} `)
    .replace('/etc/ssl/trellis/trellis.pem', pem)
    .replace('server one 127.0.0.1:4000', `server one 127.0.0.1:${serverPort}`);
  const file = path.join(folder, 'haproxy.cfg');
  await writeFile(file, example);
  return spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * Starts Caddy with the example, and a certificate of the test instead of one from a public authority. By default it
 * would wait at its end for connections that it keeps open.
 */
async function startCaddy(port: number): Promise<ChildProcess> {
  const example = await readFile(path.join(EXAMPLES, 'Caddyfile'), 'utf8');
  const file = path.join(folder, 'Caddyfile');
  const tls = `\ttls ${folder}/cert.pem ${folder}/key.pem\n`;
  await writeFile(
    file,
    `{\n\tadmin off\n\tauto_https disable_redirects\n\tgrace_period 1s\n}\n${example.replace(/\{\$TRELLIS_DOMAIN\} \{\n/, (line) => line + tls)}`,
  );
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder },
    ...{ TRELLIS_DOMAIN: `https://${HOST}:${port}`, TRELLIS_SERVERS: `127.0.0.1:${serverPort}` },
  };
  return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
}

function isInstalled(name: string): boolean {
  if (spawnSync('which', [name]).status === 0) return true;
  process.stderr.write(
    `\n*** SKIPPED: the test of deploy/ needs the program ${name} (Debian package ${name}). ***\n\n`,
  );
  return false;
}

describe('nginx with the example and a second server that is starting', () => {
  if (!isInstalled('nginx')) {
    test.skip('needs the program', () => undefined);
    return;
  }
  const starting = createServer((_request, response) => void response.writeHead(503).end('{}'));
  let proxy: ChildProcess;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    starting.listen(0, '127.0.0.1');
    await once(starting, 'listening');
    const port = await findFreePort();
    proxy = await startNginx(port, (starting.address() as AddressInfo).port);
    await eventually(async () => {
      session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, servername: HOST });
      await once(session, 'connect');
    });
  });
  afterAll(async () => {
    session.close();
    await stop(proxy);
    starting.close();
  });

  test.each(['/graphql', '/api/unknown'])(
    'repeats a POST to %s that can be repeated at the other server',
    async (target) => {
      const body = JSON.stringify({ query: '{ __typename }' });
      const statuses = new Set<unknown>();
      for (let sent = 0; sent < 8; sent += 1) {
        const stream = session.request({
          ...{ ':method': 'POST', ':path': target, ':authority': HOST, 'idempotency-key': `key-${sent}-of-the-test` },
          ...{ 'content-type': 'application/json', 'content-length': body.length },
        });
        stream.end(body);
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
        statuses.add(headers[':status']);
        await once(stream.resume(), 'end');
      }
      expect([...statuses]).toEqual([target === '/graphql' ? 200 : 404]);
    },
  );
});

describe.each([
  ['nginx', startNginx],
  ['caddy', startCaddy],
  ['haproxy', startHaproxy],
])('%s with the example', (name, startProxy) => {
  if (!isInstalled(name)) {
    test.skip('needs the program', () => undefined);
    return;
  }
  let proxy: ChildProcess;
  let port: number;
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });

  beforeAll(async () => {
    port = await findFreePort();
    proxy = await startProxy(port);
    await eventually(async () => {
      if (proxy.exitCode === null) expect((await send('/healthz')).status).toBe(200);
    });
    expect(proxy.exitCode).toBeNull();
  });
  afterAll(async () => {
    agent.destroy();
    await stop(proxy);
  });

  interface SendOptions {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  function open(target: string, { method = 'GET', headers = {}, body }: SendOptions = {}): Promise<IncomingMessage> {
    const options = { host: '127.0.0.1', servername: HOST, port, agent, method, path: target };
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...options, headers: { host: HOST, ...headers } }, resolve).on('error', reject);
      outgoing.end(body);
    });
  }

  async function send(target: string, options?: SendOptions) {
    const response = await open(target, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  }

  test('passes bodies, compressed pages, images and rejections of large bodies', async () => {
    const json = { 'content-type': 'application/json', 'accept-encoding': 'br' };
    const query =
      '{ allFile(filter: {extension: {eq: "png"}}, limit: 1) { nodes { childImageProc { fluid { src } } } } }';
    const answer = await send('/graphql', { method: 'POST', headers: json, body: JSON.stringify({ query }) });
    expect(answer.status).toBe(200);
    const page = await send('/site', { headers: { 'accept-encoding': 'br' } });
    expect(page).toMatchObject({ status: 200, headers: { 'content-encoding': 'br' } });
    const { data } = JSON.parse(answer.body.toString()) as {
      data: { allFile: { nodes: { childImageProc: { fluid: { src: string } } }[] } };
    };
    const image = await send(data.allFile.nodes[0]!.childImageProc.fluid.src);
    expect(image).toMatchObject({
      status: 200,
      headers: { 'cache-control': expect.stringContaining('immutable') as string },
    });
    // A proxy may close the connection before the client has read the response, as the rest of the body is useless.
    await eventually(async () => {
      const large = await send('/graphql', { method: 'POST', headers: json, body: 'x'.repeat(20e6) });
      expect(large.status).toBe(413);
    });
  });

  test('passes the longest URL that the server accepts', async () => {
    const query = encodeURIComponent('{ __typename } #');
    const start = `/graphql?query=${query}`;
    expect(await send(start + 'x'.repeat(16_384 - start.length))).toMatchObject({ status: 200 });
  });

  test('passes ranges and conditions for a file that caches must not store', async () => {
    const text = '{ allFile(filter: {base: {eq: "film.mp4"}}) { nodes { publicURL } } }';
    const found = await send(`/graphql?query=${encodeURIComponent(text)}`);
    const { data } = JSON.parse(found.body.toString()) as { data: { allFile: { nodes: { publicURL: string }[] } } };
    const link = data.allFile.nodes[0]!.publicURL;
    const part = await send(link, { headers: { range: 'bytes=10-19' } });
    expect(part).toMatchObject({ status: 206, headers: { 'cache-control': 'private, no-cache' } });
    expect(part.body).toHaveLength(10);
    expect(await send(link, { headers: { 'if-none-match': part.headers.etag! } })).toMatchObject({ status: 304 });
  });

  test('replaces the id that a client has chosen for its request', async () => {
    const { headers } = await send('/healthz', { headers: { 'x-request-id': 'chosen-by-a-client' } });
    expect(headers['x-request-id']).toMatch(/^[\da-f-]{32,36}$/);
  });

  test('passes on the events of a stream at once', async () => {
    const own = { cookie, origin: `https://${HOST}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN });
    expect((await send('/api/settings', { method: 'PUT', headers: own, body })).status).toBe(200);
    const stream = await open('/api/dashboard/stream', { headers: { cookie, 'accept-encoding': 'gzip' } });
    expect(stream).toMatchObject({ statusCode: 200 });
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await eventually(async () => expect(bytes).toBeGreaterThan(20));
    await sleep(500);
    const before = bytes;

    const until = new Date(Date.now() + 3_600_000).toISOString();
    const snooze = JSON.stringify({ forge: 'github', fullName: 'acme/shop', number: 1, until });
    // The pull request is on the board after the first refresh.
    await eventually(async () => {
      const snoozed = await send('/api/pull-requests/snooze', { method: 'POST', headers: own, body: snooze });
      expect(snoozed.status).toBe(204);
    });
    await eventually(async () => expect(bytes).toBeGreaterThan(before));
    stream.destroy();
  });

  test('passes on whole events to a client that accepts no compression', async () => {
    const stream = await open('/api/dashboard/stream', { headers: { cookie } });
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await eventually(async () => expect(text).toMatch(/^id: .+\ndata: .+\n\n$/u));
    stream.destroy();
  });
});
