import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CompiledServer, compileServer } from '../contract/compiled-server.js';
import { eventually } from '../eventually.js';
import { parseLog } from '../running-server.js';

/** File permissions do not apply to root, so the server runs as a different user. */
const NOBODY = 65_534;
const uid = process.geteuid?.() === 0 ? NOBODY : undefined;

const GIB = 1024 ** 3;

/** The content of every private file, which no response may contain. */
const SECRET = 'postgres://garden:the-password@db/garden';

const PRIVATE = ['.env', '.git/config', 'server.pem', 'id_ed25519', 'passwords.kdbx', 'trellis.config.json'];

interface SiteData {
  readonly allFile: { readonly nodes: readonly { readonly relativePath: string }[] };
  readonly allRecipe: { readonly nodes: readonly { readonly title: string }[] };
}

interface SiteReadiness {
  readonly status: string;
  readonly reason?: string;
  readonly problemCount?: number;
  readonly problems?: readonly { readonly path: string; readonly reason: string }[];
}

interface Started {
  readonly origin: string;
  /** Returns the processor time since the start, as the machine is shared; wall time where /proc is missing. */
  seconds(): number;
  output(): string;
  /** The distinct statuses of the other services, in order; 0 before the server listens. */
  readonly statuses: ReadonlyMap<string, readonly number[]>;
  ask(): Promise<SiteData | undefined>;
  readiness(): Promise<SiteReadiness>;
  stop(): Promise<void>;
}

const OTHERS = new Map([
  ['/healthz', 200],
  ['/api/dashboard', 401],
  ['/secrets/healthz', 200],
  ['/secrets/objects', 401],
]);

let base: string;
let site: string;
let compiled: CompiledServer;

beforeAll(async () => {
  compiled = await compileServer();
});
afterAll(() => compiled.remove());

async function makeFolder(): Promise<void> {
  base = await mkdtemp(path.join(tmpdir(), 'trellis-hostile-'));
  site = path.join(base, 'site');
  await mkdir(site);
}

async function start(): Promise<Started> {
  if (uid !== undefined) execFileSync('chown', ['-R', String(uid), base]);
  const port = await findPort();
  const origin = `http://127.0.0.1:${port}`;
  const args = ['serve', '--port', String(port), '--state', `${base}/state`, '--site', site];
  const child = compiled.spawn(args, { LOG_LEVEL: 'warn', HOME: base }, uid);
  const startedMs = performance.now();
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const stopped = new AbortController();
  const statuses = new Map<string, number[]>();
  const following = follow(origin, statuses, stopped.signal);
  return {
    origin,
    seconds: () => processorSeconds(child.pid) ?? (performance.now() - startedMs) / 1000,
    output: () => output,
    statuses,
    async ask() {
      if (child.exitCode !== null) throw new Error(`The server ended:\n${output}`);
      const query = '{ allFile { nodes { relativePath } } allRecipe { nodes { title } } }';
      const response = await fetch(`${origin}/graphql?query=${encodeURIComponent(query)}`).catch(() => undefined);
      return response?.status === 200 ? ((await response.json()) as { data: SiteData }).data : undefined;
    },
    readiness: async () => ((await (await fetch(`${origin}/readyz`)).json()) as { site: SiteReadiness }).site,
    async stop() {
      stopped.abort();
      await following;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Returns the processor time of all threads of a process, or `undefined` without /proc. */
function processorSeconds(pid: number | undefined): number | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /su, '')
    .split(' ');
  // utime and stime, in hundredths.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function findPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Polls the other services and records each change of their statuses. */
async function follow(origin: string, statuses: Map<string, number[]>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const where of OTHERS.keys()) {
      const status = await fetch(origin + where).then(
        (response) => response.status,
        () => 0,
      );
      const seen = statuses.get(where) ?? [];
      if (seen.at(-1) !== status) seen.push(status);
      statuses.set(where, seen);
    }
    await sleep(20, undefined, { signal }).catch(() => undefined);
  }
}

/** Allows connection errors and 503 at the start, while the server opens its port and databases. */
function expectOthersToAnswer({ statuses }: Started): void {
  for (const [where, status] of OTHERS) {
    const seen = statuses
      .get(where)
      ?.filter((one, index, all) => index === all.length - 1 || (one !== 0 && one !== 503));
    expect([where, seen]).toEqual([where, [status]]);
  }
}

const pathsOf = (data: SiteData | undefined): string[] =>
  data?.allFile.nodes.map(({ relativePath }) => relativePath) ?? [];

describe('a site with unreadable and private files', () => {
  let server: Started;
  let data: SiteData;

  beforeAll(async () => {
    await makeFolder();
    await fill();
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
    execFileSync('rm', ['-rf', base]);
  });

  async function fill(): Promise<void> {
    for (const folder of ['.git', 'recipes', 'closed', 'drawings']) await mkdir(path.join(site, folder));
    const put = (name: string, text: string) => writeFile(path.join(site, name), text);
    for (const name of PRIVATE) await put(name, SECRET);
    await put('page.md', '# A page\n');
    await put('unreadable.md', 'text');
    await put('closed/inside.md', 'text');
    await writeFile(Buffer.concat([Buffer.from(`${site}/caf`), Buffer.from([0xe9]), Buffer.from('.md')]), 'text');
    execFileSync('mkfifo', [path.join(site, 'pipe')]);
    await put('video.mp4', '');
    await truncate(path.join(site, 'video.mp4'), 3 * GIB);
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}:`);
    await put('recipes/keys.md', ['---', 'title: Many keys', ...keys, '---', 'Text.'].join('\n'));
    await put('recipes/broken.md', '---\ntitle: [\n---\n');
    const group = (index: number) => `<g id="g${index + 1}">${`<use href="#g${index}"/>`.repeat(10)}</g>`;
    const groups = Array.from({ length: 30 }, (_, index) => group(index)).join('');
    await put('drawings/endless.svg', `<svg xmlns="http://www.w3.org/2000/svg"><g id="g0"/>${groups}</svg>`);
    await chmod(path.join(site, 'unreadable.md'), 0o000);
    await chmod(path.join(site, 'closed'), 0o000);
  }

  test('is served within 10 seconds of the start, before its large file is read', async () => {
    await eventually(async () => {
      const found = await server.ask();
      expect(found).toBeDefined();
      data = found!;
    });
    expect(server.seconds()).toBeLessThan(10);
    await eventually(() => expect(server.output()).toContain('Site: 1 large file still being read'));
  });

  test('lists the readable entries and nothing private', () => {
    const paths = pathsOf(data).filter((name) => name !== 'video.mp4');
    expect(paths).toEqual(['drawings/endless.svg', 'page.md', 'recipes/broken.md', 'recipes/keys.md']);
    expect(data.allRecipe.nodes).toEqual([{ title: 'Many keys' }]);
  });

  test('does not expose private files by record, path or copy', async () => {
    // Copying the large file would take too long.
    const query = '{ allFile(filter: { ext: { ne: ".mp4" } }) { nodes { publicURL } } }';
    const listed = await fetch(`${server.origin}/graphql?query=${encodeURIComponent(query)}`);
    const result = (await listed.json()) as { data: { allFile: { nodes: { publicURL: string }[] } } };
    expect(result.data.allFile.nodes).toHaveLength(4);
    for (const { publicURL } of result.data.allFile.nodes) {
      const response = await fetch(server.origin + publicURL);
      expect([publicURL, response.status]).toEqual([publicURL, 200]);
      expect(await response.text()).not.toContain(SECRET);
    }
    const guesses = PRIVATE.flatMap((name) => [`/${name}`, `/static/${name}`, `/static/..%2f..%2f..%2fsite%2f${name}`]);
    for (const guess of guesses) expect((await fetch(server.origin + guess)).status).toBeGreaterThanOrEqual(400);
    expect(spawnSync('grep', ['-rl', SECRET, `${base}/state`], { encoding: 'utf8' }).stdout).toBe('');
  });

  test('reports every problem once in the log, and in /readyz without the folder of the site', async () => {
    const { problems = [], problemCount } = await server.readiness();
    const unreadable = "can't be read: EACCES, permission denied.";
    expect([...problems].sort((one, other) => (one.path < other.path ? -1 : 1))).toMatchObject([
      { path: 'caf\\xe9.md', reason: 'its name is not valid UTF-8; rename it.' },
      { path: 'closed', reason: unreadable },
      { path: 'pipe', reason: 'is a named pipe, not a file or folder.' },
      { path: 'recipes/broken.md', line: 2 },
      { path: 'unreadable.md', reason: unreadable },
    ]);
    expect(problemCount).toBe(5);
    for (const { path: name, reason } of problems) {
      const lines = parseLog(server.output())
        .map(({ msg }) => String(msg))
        .filter((line) => line.includes(name));
      expect([name, lines]).toEqual([name, [expect.stringContaining(reason)]]);
    }
    expect(JSON.stringify(problems)).not.toContain(base);
  });

  test('removes problems that are fixed', async () => {
    await chmod(path.join(site, 'unreadable.md'), 0o644);
    await chmod(path.join(site, 'closed'), 0o755);
    await rm(path.join(site, 'pipe'));
    await writeFile(path.join(site, 'recipes/broken.md'), '---\ntitle: Repaired\n---\n');
    await eventually(async () => {
      expect((await server.readiness()).problems?.map(({ path: name }) => name)).toEqual(['caf\\xe9.md']);
    });
    const now = await server.ask();
    expect(pathsOf(now)).toEqual(expect.arrayContaining(['closed/inside.md', 'unreadable.md']));
    expect(now?.allRecipe.nodes).toContainEqual({ title: 'Repaired' });
  });

  test('does not affect the dashboard and the secrets', () => {
    expectOthersToAnswer(server);
  });
});

test('an unreadable site folder does not affect the other services, and is served once it is readable', async () => {
  await makeFolder();
  await writeFile(path.join(site, 'page.md'), 'text');
  await chmod(site, 0o000);
  const server = await start();
  try {
    const reason = "The site's folder can't be read: EACCES, permission denied.";
    await eventually(async () => expect(await server.readiness()).toEqual({ status: 'unavailable', reason }));
    const refused = await fetch(`${server.origin}/graphql?query={__typename}`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await refused.json()).toMatchObject({ error: reason, code: 'unavailable' });
    await chmod(site, 0o755);
    await eventually(async () => expect(pathsOf(await server.ask())).toEqual(['page.md']));
    expect(await server.readiness()).toEqual({ status: 'ok', problemCount: 0, problems: [] });
    expect(server.output().split(reason).length - 1).toBe(1);
    expectOthersToAnswer(server);
  } finally {
    await server.stop();
    execFileSync('rm', ['-rf', base]);
  }
});
