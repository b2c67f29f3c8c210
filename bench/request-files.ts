import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccounts } from '../src/accounts/accounts.js';
import { loadConfig } from '../src/config/config.js';
import { serve } from '../src/main.js';
import { openDatabase } from '../src/storage/open-database.js';
import { LOOPBACK } from '../tests/forges/forge-server.js';
import { settingsFor, startForges } from '../tests/dashboard/refresh/forges.js';
import { ageValue } from '../tests/secrets/age-files.js';
import { ask } from './server.js';
import { toTable } from './table.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The files of a request: those of which a function ran, from the root of the repository. */
type Files = ReadonlySet<string>;

/**
 * Prints how many of our files run for five requests, and which. A file counts if one of its functions ran; statements
 * that run when a module is loaded don't count. "First" is the first such request of the process, "later" the third.
 */
async function printRequestFiles(): Promise<void> {
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-request-files-'));
  try {
    const rows = [...(await measureServer(work)), { name: 'generate --check', first: measureGenerate(work) }];
    const cells = rows.map(({ name, first, later }) => [name, count(first), later ? count(later) : '']);
    console.log(toTable(['request', 'files, first', 'files, later'], cells));
    for (const { name, first } of rows) console.log(`\n${name}, first\n  ${[...first].sort().join('\n  ')}`);
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
    return { name, first, later: await coverage.during(() => request(2)) };
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
    const first = await coverage.during(() => send(link));
    return [...rows, { name: 'GET of an image', first, later: await coverage.during(() => send(link)) }];
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
  const env = { NODE_ENV: 'production', PORT: '0', TRELLIS_STATE: state, TRELLIS_FORGE_ALLOW: LOOPBACK.join(',') };
  const config = await loadConfig({ env: { ...env, LOG_LEVEL: 'silent' } });
  let report: (line: string) => void = () => undefined;
  const ready = new Promise<string>((resolve) => (report = resolve));
  const ended = serve(config, { version: 'bench', print: (line) => report(line), terminal: process.stderr });
  const line = await Promise.race([ready, ended.then(() => '')]);
  const origin = /http:\/\/\S+/.exec(line)?.[0];
  if (origin === undefined) throw new Error(`The server printed no address: ${line}`);
  const stop = async (): Promise<void> => {
    process.kill(process.pid, 'SIGTERM');
    await ended;
  };
  return { origin, stop };
}

/** Reads which functions of this process run. */
async function openCoverage(): Promise<{ during: (work: () => Promise<unknown>) => Promise<Files> }> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  /** Returns the counts since the last call. */
  const take = async (): Promise<Files> => toFiles((await session.post('Profiler.takePreciseCoverage')).result);
  return {
    async during(work) {
      await take();
      await work();
      return take();
    },
  };
}

/** Returns the files of ours with a function that ran. The function at offset 0 is the module itself. */
function toFiles(scripts: readonly Profiler.ScriptCoverage[]): Files {
  const ran = scripts.filter(({ functions }) =>
    functions.some(({ ranges }) => ranges[0] !== undefined && ranges[0].count > 0 && ranges[0].startOffset > 0),
  );
  const files = ran
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => path.relative(ROOT, fileURLToPath(url.replace(/\?.*$/, ''))));
  return new Set(files.filter((file) => /^(src|packages|scripts)\//.test(file)));
}

function measureGenerate(work: string): Files {
  const folder = path.join(work, 'coverage');
  execFileSync(process.execPath, ['--conditions=trellis-source', '--import', 'tsx', 'scripts/generate.ts', '--check'], {
    cwd: ROOT,
    env: { ...process.env, NODE_V8_COVERAGE: folder },
  });
  const reports = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'));
  return new Set(reports.flatMap((text) => [...toFiles((JSON.parse(text) as Coverage).result)]));
}

interface Coverage {
  readonly result: readonly Profiler.ScriptCoverage[];
}

await printRequestFiles();
