import childProcess, { type ForkOptions } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAccounts } from '../../src/accounts/accounts.js';
import { loadConfig } from '../../src/config/config.js';
import { serve } from '../../src/main.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { settingsFor, startForges } from '../../tests/dashboard/refresh/forges.js';
import { LOOPBACK } from '../../tests/forges/forge-server.js';
import { ageValue } from '../../tests/secrets/age-files.js';
import { ask } from '../server.js';
import { toTable } from '../table.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The files of a request: those of which a function ran, from the root of the repository. */
type Files = ReadonlySet<string>;

/**
 * Prints how many of our files run for five requests, and which.
 *
 * A file of `src`, `packages` or `scripts` counts if one of its functions ran between the request and the end of its
 * response; generated files count too. Statements that run when a module is loaded don't count. Nor does the server's
 * own work, such as refreshes and the creation of indexes: the server has to be idle before each request. "First" is
 * the first such request of the process, "later" the third; for the check of generated files, "first" has no cache and
 * "later" that of a run. The process that renders an image is a row of its own;
 * later requests for the image are served from its file.
 */
async function printRequestFiles(): Promise<void> {
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-request-files-'));
  try {
    const rows = [...(await measureServer(work)), measureGenerate(work)];
    const cells = rows.map(({ name, first, later }) => [name, count(first), later ? count(later) : '']);
    console.log(toTable(['request', 'files, first', 'files, later'], cells));
    for (const { name, first, later } of rows) {
      console.log(`\n${name}, first\n  ${[...first].sort().join('\n  ')}`);
      const more = [...(later ?? [])].filter((file) => !first.has(file)).sort();
      if (more.length > 0) console.log(`${name}, only later\n  ${more.join('\n  ')}`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

interface Row {
  readonly name: string;
  readonly first: Files;
  readonly later?: Files;
}

const count = (files: Files): string => String(files.size);

const PAGE = `query Page($limit: Int) {
  allFile(filter: { extension: { ne: "js" } }, sort: { fields: [name], order: [ASC] }, limit: $limit) { nodes { relativePath size } }
}`;

const IMAGES = '{ allImageProc(limit: 1) { nodes { resize(width: 64) { src } } } }';

async function measureServer(work: string): Promise<Row[]> {
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const rendering = observeRenderProcesses(path.join(work, 'rendering'));
  const cookie = await createSession(state);
  const forges = await startForges();
  const server = await startInThisProcess(state);
  const coverage = await openCoverage();
  const send = async (url: string, method = 'GET', body?: object): Promise<Response> => {
    const headers = { cookie, origin: server.origin, 'content-type': 'application/json' };
    const response = await fetch(new URL(url, server.origin), { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
    await response.clone().arrayBuffer();
    return response;
  };
  const measure = async (name: string, request: (turn: number) => Promise<unknown>): Promise<Row> => {
    const first = await coverage.during(() => request(0));
    await request(1);
    const later = await coverage.during(() => request(2));
    return { name, first, later };
  };
  try {
    await send('/api/settings', 'PUT', settingsFor(forges));
    await send('/api/dashboard/refresh', 'POST');
    await send('/secrets/objects', 'POST', { slug: 'db', value: ageValue(), used_by: ['acme/shop'] });
    const rows = [
      await measure('GraphQL page', (turn) => ask(server.origin, PAGE, { limit: turn + 3 })),
      await measure('board', () => send('/api/dashboard')),
      await measure('PUT of a secret', (turn) =>
        send('/secrets/objects/db', 'PUT', { value: ageValue({ payload: `value ${turn}` }), used_by: ['acme/shop'] }),
      ),
    ];
    const { allImageProc } = (await ask(server.origin, IMAGES)) as ImagesResult;
    const link = allImageProc.nodes[0]?.resize.src ?? '';
    rendering.clear();
    const image = await measure('GET of an image', () => send(link));
    return [...rows, image, { name: 'its rendering process', first: rendering.read() }];
  } finally {
    await server.stop();
    for (const forge of [forges.github, forges.forgejo, forges.gitlab]) await forge.close();
  }
}

interface ImagesResult {
  readonly allImageProc: { readonly nodes: readonly { readonly resize: { readonly src: string } }[] };
}

/** Creates the database with an administrator, and returns the cookie of a session. */
async function createSession(state: string): Promise<string> {
  const database = await openDatabase({ file: path.join(state, 'trellis.db') });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const cookie = `trellis_session=${await accounts.sessions.start(id)}`;
  await database.destroy();
  return cookie;
}

/** Runs the server in this process, where the coverage of its functions can be read between two requests. */
async function startInThisProcess(state: string): Promise<{ origin: string; stop: () => Promise<void> }> {
  const env = {
    NODE_ENV: 'production',
    PORT: '0',
    LOG_LEVEL: 'silent',
    TRELLIS_STATE: state,
    TRELLIS_FORGE_ALLOW: LOOPBACK.join(','),
    // A change in the folder would be read at any time.
    TRELLIS_WATCH: 'false',
  };
  const config = await loadConfig({ env });
  let report: (line: string) => void = () => undefined;
  const ready = new Promise<string>((resolve) => (report = resolve));
  const output = Object.assign(new PassThrough(), { isTTY: false }) as unknown as NodeJS.WriteStream;
  output.once('data', (line: Buffer) => report(line.toString()));
  const streams = { output, terminal: process.stderr, print: () => undefined };
  const ended = serve(config, { version: 'bench', ...streams });
  const line = await Promise.race([ready, ended.then(() => '')]);
  const origin = /http:\/\/\S+/.exec(line)?.[0];
  if (origin === undefined) throw new Error(`The server printed no address: ${line}`);
  const stop = async (): Promise<void> => {
    process.kill(process.pid, 'SIGTERM');
    await ended;
  };
  return { origin, stop };
}

/** The server is idle when none of its functions ran during two intervals of this length. */
const IDLE_MS = 100;
const MAX_WAIT_MS = 60_000;

/** The server polls its schedule every second. A request right after that gets its response before the next time. */
const POLLING = 'src/dashboard/refresh/schedule.ts';

/** Reads which functions of this process run. */
async function openCoverage(): Promise<{ during: (work: () => Promise<unknown>) => Promise<Files> }> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  /** Returns the files that ran since the last call. */
  const take = async (): Promise<Files> => toFiles((await session.post('Profiler.takePreciseCoverage')).result);

  async function waitUntilIdle(): Promise<void> {
    const deadline = Date.now() + MAX_WAIT_MS;
    let last: Files = new Set();
    for (let quiet = 0; quiet !== 2 || !last.has(POLLING);) {
      if (Date.now() > deadline) throw new Error(`The server does not become idle: ${[...last].join(', ')}`);
      await sleep(IDLE_MS);
      const files = await take();
      quiet = files.size === 0 ? quiet + 1 : 0;
      if (files.size > 0) last = files;
    }
  }

  return {
    async during(work) {
      await waitUntilIdle();
      await work();
      return take();
    },
  };
}

/** Makes the rendering processes of this process write their coverage to a folder. */
function observeRenderProcesses(folder: string): { clear: () => void; read: () => Files } {
  mkdirSync(folder);
  const { fork } = childProcess;
  const preload = fileURLToPath(new URL('./process-coverage-child.js', import.meta.url));
  childProcess.fork = ((program: string, args: readonly string[], options: ForkOptions) =>
    fork(program, args, {
      ...options,
      env: { ...options.env, COVERAGE_FOLDER: folder },
      execArgv: ['--import', preload],
    })) as typeof fork;
  syncBuiltinESMExports();
  return {
    clear() {
      for (const file of readdirSync(folder)) rmSync(path.join(folder, file));
    },
    read: () => readReports(folder),
  };
}

/** Returns our own files with a function that ran. The function at offset 0 is the module itself. */
function toFiles(scripts: readonly Profiler.ScriptCoverage[]): Files {
  const ran = scripts.filter(({ functions }) =>
    functions.some(({ ranges }) => ranges[0] !== undefined && ranges[0].count > 0 && ranges[0].startOffset > 0),
  );
  const files = ran
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => path.relative(ROOT, fileURLToPath(url.replace(/\?.*$/, ''))))
    // Rendering processes run the built program.
    .map((file) => file.replace(/^(packages\/\w+)\/dist\/(.*)\.js$/, '$1/src/$2.ts'));
  return new Set(files.filter((file) => /^(src|packages|scripts)\//.test(file)));
}

/** Measures the check of generated files without and with the cache of a run. */
function measureGenerate(work: string): Row {
  rmSync(path.join(ROOT, '.cache/generate.json'), { force: true });
  const first = runGenerate(path.join(work, 'first'), '--check');
  runGenerate(path.join(work, 'run'));
  return { name: 'generate --check', first, later: runGenerate(path.join(work, 'later'), '--check') };
}

function runGenerate(folder: string, ...flags: readonly string[]): Files {
  const command = ['--conditions=trellis-source', '--import', 'tsx', 'scripts/generate.ts', ...flags];
  childProcess.execFileSync(process.execPath, command, {
    cwd: ROOT,
    env: { ...process.env, NODE_V8_COVERAGE: folder },
    stdio: 'pipe',
  });
  return readReports(folder);
}

function readReports(folder: string): Files {
  const reports = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'));
  return new Set(reports.flatMap((text) => [...toFiles((JSON.parse(text) as Coverage).result)]));
}

interface Coverage {
  readonly result: readonly Profiler.ScriptCoverage[];
}

await printRequestFiles();
