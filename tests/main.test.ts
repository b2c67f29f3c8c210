import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig } from '../src/config/config.js';
import { StartupError } from '../src/config/startup-error.js';
import { serve } from '../src/main.js';
import { collect, runCli, startServer, type RunningServer } from './running-server.js';

let folder: string;
let shared: RunningServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-main-'));
  await writeFile(join(folder, 'file'), '');
  shared = await startServer(['--state', join(folder, 'state')]);
});
afterAll(async () => {
  await shared.stop();
  await rm(folder, { recursive: true });
});

async function runToEnd(args: readonly string[]) {
  const child = runCli(args);
  const output = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output() };
}

async function statusOf(server: RunningServer, path: string, headers = {}): Promise<number> {
  return (await fetch(server.origin + path, { headers })).status;
}

describe('trellis serve', () => {
  test('prints its URL and the size of the site', async () => {
    await shared.printed('Explore');
    const [ready, explore] = shared.lines();
    expect(String(ready?.msg).replace(/\d+/g, '1')).toMatch(
      /^Trellis 1\.1\.1 ready at http:\/\/localhost:1 - 1 files in 1 folders, 1 images, scanned in (1 ms|1\.1 s), started in (1 ms|1\.1 s)\.$/,
    );
    expect(ready).toMatchObject({
      level: 30,
      instance: `${hostname()}:${shared.process.pid}`,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
    });
    expect(explore?.msg).toBe(`Explore the site's data at ${shared.origin}/graphql`);
  });

  test('prints the number of private names of the site', async () => {
    const site = await mkdtemp(join(folder, 'site-'));
    await writeFile(join(site, '.env'), '');
    const server = await startServer(['--site', site]);
    try {
      await server.printed('left out');
      const lines = server.lines().map(({ msg }) => msg);
      expect(lines).toContain('Site: 1 private name left out, such as those that start with a dot, and keys.');
    } finally {
      await server.stop();
    }
  });

  test('neither prints the site token, nor warns about a site on a network that requires it', async () => {
    const token = 'site-token-0123456789-abcdefghijkl';
    const server = await startServer(['--host', '0.0.0.0', '--site-access', 'token'], {
      TRELLIS_SITE_TOKEN: token,
      LOG_LEVEL: 'trace',
    });
    try {
      const Authorization = `Bearer ${token}`;
      await expect(statusOf(server, '/graphql?query={__typename}', { Authorization })).resolves.toBe(200);
      await expect(statusOf(server, '/static/nothing', { Authorization })).resolves.toBe(404);
      await expect(statusOf(server, '/graphql?query={__typename}')).resolves.toBe(401);
    } finally {
      await server.stop();
    }
    expect(server.output()).toContain('graphql');
    expect(server.output()).not.toContain(token);
    expect(server.output()).not.toContain('Anyone who can reach');
  });

  test('creates a state folder that only its user can access', async () => {
    expect((await stat(join(folder, 'state'))).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['the home page', '/', {}, 200],
    ['the page to sign in', '/sign-in', {}, 200],
    ['the explorer', '/graphql', { Accept: 'text/html' }, 200],
    ['GraphQL', '/graphql?query={__typename}', {}, 200],
    ['the alias of GraphQL', '/___graphql?query={__typename}', {}, 200],
    ['the contract of the dashboard', '/api/openapi.json', {}, 200],
    ['the contract of the secrets', '/secrets/openapi.json', {}, 200],
    ['health', '/healthz', {}, 200],
    ['readiness', '/readyz', {}, 200],
    ['a board without a credential', '/api/dashboard', {}, 401],
    ['secrets without a credential', '/secrets/objects', {}, 401],
    ['an invalid token', '/api/dashboard', { Authorization: 'Bearer x' }, 401],
    ['an unknown path', '/nothing', {}, 404],
  ])('serves %s with the expected status', async (_what, path, headers, status) => {
    await expect(statusOf(shared, path, headers)).resolves.toBe(status);
  });

  test('a HEAD of a query has the headers of its GET', async () => {
    const url = `${shared.origin}/graphql?query=${encodeURIComponent('{ allFile(limit: 1) { nodes { size } } }')}`;
    const read = async (method: string) => {
      const { status, headers } = await fetch(url, { method });
      return [status, ...['content-length', 'content-type', 'etag', 'cache-control'].map((name) => headers.get(name))];
    };
    const [got, headed] = [await read('GET'), await read('HEAD')];
    expect(got[0]).toBe(200);
    expect(headed).toEqual(got);
  });

  test('a HEAD of a live query is rejected, as its stream would not end', async () => {
    const url = `${shared.origin}/graphql?query=${encodeURIComponent('query @live { __typename }')}`;
    const { status, headers } = await fetch(url, { method: 'HEAD', headers: { Accept: 'text/event-stream' } });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  test('serves the public copy of a file at its publicURL', async () => {
    const query = '{ file(extension: { eq: "md" }) { publicURL size } }';
    const answer = await fetch(`${shared.origin}/graphql?query=${encodeURIComponent(query)}`);
    const { data } = (await answer.json()) as { data: { file: { publicURL: string; size: number } } };
    const copy = await fetch(shared.origin + data.file.publicURL);
    expect(copy.headers.get('cache-control')).toContain('immutable');
    expect((await copy.arrayBuffer()).byteLength).toBe(data.file.size);
  });

  test.each([
    ['the home page', '/', 'GET, HEAD, OPTIONS'],
    ['the contract of the dashboard', '/api/openapi.json', 'GET, HEAD, OPTIONS'],
    ['the contract of the secrets', '/secrets/openapi.json', 'GET, HEAD, OPTIONS'],
    ['GraphQL', '/graphql', 'GET, HEAD, POST, OPTIONS'],
  ])('returns the methods of %s for OPTIONS, and in the 405 for other methods', async (_reason, path, allow) => {
    const asked = await fetch(shared.origin + path, { method: 'OPTIONS' });
    expect([asked.status, asked.headers.get('allow')]).toEqual([204, allow]);
    const refused = await fetch(shared.origin + path, { method: 'DELETE' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, allow]);
  });

  test.each([
    ['a page', '/', "script-src 'self'"],
    ['a contract', '/api/openapi.json', "script-src 'self'"],
    ['data', '/api/version', "default-src 'none'"],
    ['an error', '/api/tokens', "default-src 'none'"],
    ['an unknown operation', '/api/nothing', "default-src 'none'"],
    ['an unknown path', '/nothing', "script-src 'self'"],
  ])('sends security headers with %s', async (_what, path, policy) => {
    const { headers } = await fetch(shared.origin + path);
    expect(headers.get('content-security-policy')).toContain(policy);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('runs only the services in TRELLIS_SERVICES, and embeds them in pages', async () => {
    const server = await startServer([], { TRELLIS_SERVICES: 'secrets' });
    try {
      await expect(statusOf(server, '/graphql?query={__typename}')).resolves.toBe(404);
      await expect(statusOf(server, '/api/tokens')).resolves.toBe(404);
      // The secrets service has sign-in and the appearance of pages as well.
      await expect(statusOf(server, '/api/auth/registration-status')).resolves.toBe(200);
      await expect(statusOf(server, '/api/settings/theme')).resolves.toBe(401);
      await expect(statusOf(server, '/api/settings')).resolves.toBe(404);
      await expect(statusOf(server, '/api/openapi.json')).resolves.toBe(404);
      await expect(statusOf(server, '/healthz')).resolves.toBe(200);
      await expect(statusOf(server, '/secrets/healthz')).resolves.toBe(200);
      const page = await (await fetch(server.origin)).text();
      expect(/data-services="([^"]*)"/.exec(page)?.[1]).toBe('secrets');
    } finally {
      await server.stop();
    }
  });

  test('switches the log between its level and debug at SIGUSR2', async () => {
    const server = await startServer(['--services', 'secrets']);
    try {
      await statusOf(server, '/secrets/healthz');
      server.process.kill('SIGUSR2');
      await server.printed('The log level is debug.');
      await statusOf(server, '/secrets/healthz');
      await server.printed('"route":"/secrets/healthz"');
      server.process.kill('SIGUSR2');
      await server.printed('The log level is warn.');
    } finally {
      await server.stop();
    }
    expect(server.lines().filter(({ route }) => route === '/secrets/healthz')).toHaveLength(1);
  });

  describe('with a public site on a network and a state folder that others can read', () => {
    let open: RunningServer;
    let state: string;
    beforeAll(async () => {
      state = join(folder, 'open');
      await mkdir(state, { mode: 0o755 });
      open = await startServer(['--host', '0.0.0.0', '--state', state]);
    });
    afterAll(() => open.stop());

    test('warns about the public site', async () => {
      const line =
        'Anyone who can reach 0.0.0.0 can read the site. TRELLIS_SITE_ACCESS=people or token restricts this.';
      await open.printed(line);
      expect(shared.output()).not.toContain('Anyone who can reach');
    });

    test('warns about the state folder, which keeps its permissions', async () => {
      expect(open.output()).toContain(`Other users can read ${state}. Protect its keys with chmod 700.`);
      expect((await stat(state)).mode & 0o777).toBe(0o755);
      expect(shared.output()).not.toContain('Other users can read');
    });

    test('after SIGTERM, completes the open request, accepts no other, and exits', async () => {
      const body = '{"query":"{ __typename }" }';
      const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length, Expect: '100-continue' };
      const asked = request(`${open.origin}/graphql`, { method: 'POST', headers });
      // The server has received the request.
      await once(asked, 'continue');
      asked.write(body.slice(0, 9));
      const stopped = open.stop();
      await open.printed('Stopping: waiting for open requests.');
      await expect(fetch(`${open.origin}/healthz`)).rejects.toThrow('fetch failed');
      asked.end(body.slice(9));
      const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
      response.resume();
      expect(response.statusCode).toBe(200);
      await expect(stopped).resolves.toBe(0);
    });
  });

  test('reports a port in use in one line, before it scans the site', async () => {
    const { port } = new URL(shared.origin);
    const args = ['--port', port, '--state', join(folder, 'second'), '--site', '/nowhere/at/all'];
    const { code, output } = await runToEnd(['serve', ...args]);
    expect(output).toBe(`trellis: PORT: port ${port} on 127.0.0.1 is already in use\n`);
    expect(code).toBe(1);
  });

  test('reports an invalid option in one line', async () => {
    const { code, output } = await runToEnd(['serve', '--port', 'http', '--state', join(folder, 'other')]);
    expect(output).toBe('trellis: --port: expected a whole number from 0 to 65535; received "http"\n');
    expect(code).toBe(1);
  });

  // As a process reports every StartupError alike, these need none.
  test.each([
    [
      'a missing site as the only service',
      { services: 'site', site: '/nowhere/at/all' },
      /^TRELLIS_SITE \(\/nowhere\/at\/all\): .+$/,
    ],
    ['a state folder below a file', { state: 'FOLDER/file/state' }, /^TRELLIS_STATE \(.+$/],
    [
      'an address of a different machine',
      { host: '192.0.2.1' },
      /^HOST: expected an address of this machine; received "192.0.2.1"$/,
    ],
  ])('reports %s in one line', async (_reason, given, line) => {
    const flags = { port: '0', state: join(folder, 'other'), logLevel: 'warn', ...given };
    flags.state = flags.state.replace('FOLDER', folder);
    const terminal = new PassThrough() as unknown as NodeJS.WriteStream;
    const streams = { output: terminal, terminal, print: () => undefined };
    const started = serve(await loadConfig({ flags, env: {} }), { version: '1.2.3', ...streams });
    const error: unknown = await started.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StartupError);
    expect(error).toMatchObject({ exitCode: 1, message: expect.stringMatching(line) as string });
  });

  test('prints its options and its version', async () => {
    const help = await runToEnd(['serve', '--help']);
    expect(help).toMatchObject({
      code: 0,
      output: expect.stringMatching(/--site <folder>.*\[TRELLIS_SITE\]/s) as string,
    });
    const version = await runToEnd(['--version']);
    expect(version).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
  });
});
