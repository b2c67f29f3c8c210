import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { eventually } from './eventually.js';
import { collect, runCli, startServer } from './running-server.js';

let folder: string;
/** A state folder that a server has used, with accounts, records and images. */
let used: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-trouble-'));
  used = join(folder, 'used');
  const server = await startServer(['--state', used]);
  await server.stop();
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;

/** Copies the used state folder. */
async function copyState(): Promise<string> {
  const state = join(folder, `state-${(count += 1)}`);
  await mkdir(join(state, 'site'), { recursive: true, mode: 0o700 });
  for (const name of await readdir(used, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const path = join(name.parentPath, name.name);
    if (!path.includes('public')) await copyFile(path, path.replace(used, state));
  }
  return state;
}

async function run(...args: readonly string[]) {
  const child = runCli(args);
  const output = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output() };
}

const damage = (file: string) => writeFile(file, 'no database '.repeat(2_000));
const START = ['serve', '--port', '0', '--services', 'dashboard,secrets'];

describe('a start in trouble prints one line, without a stack', () => {
  const remove =
    (...names: readonly string[]) =>
    async (state: string) =>
      void (await Promise.all(names.map((name) => rm(join(state, name), { force: true }))));
  test.each([
    [
      'an emptied database',
      (state: string) => truncate(join(state, 'trellis.db')),
      /the database is empty or missing, but database-created shows that there was one; restore it or a backup, or start with --new-database$/,
    ],
    [
      'a missing database beside the key',
      remove('trellis.db', 'database-created', 'images.db'),
      /the database is empty or missing, but server\.key shows /,
    ],
    [
      'a damaged database',
      (state: string) => damage(join(state, 'trellis.db')),
      /trellis\.db: the database is damaged; restore a backup with "trellis restore --force", which keeps the damaged file$/,
    ],
    [
      'a cut database',
      (state: string) => truncate(join(state, 'trellis.db'), 20_000),
      /trellis\.db: the database is damaged; /,
    ],
    [
      'a broken key',
      (state: string) => writeFile(join(state, 'server.key'), 'x'),
      /server\.key is not a valid key; restore it from a backup, or copy it from another server of the same database$/,
    ],
  ])('for %s', async (_what, harm, line) => {
    const state = await copyState();
    await harm(state);
    const { code, output } = await run(...START, '--state', state);
    expect(output.split('\n')).toEqual([expect.stringMatching(line), '']);
    expect(output).toContain(`trellis: TRELLIS_STATE (${state}): `);
    expect(code).toBe(1);
  });

  test('and a backup of a damaged database does, too', async () => {
    const state = await copyState();
    await damage(join(state, 'trellis.db'));
    const { code, output } = await run('backup', join(state, 'a.backup'), '--state', state);
    expect(output).toMatch(
      /^trellis: TRELLIS_STATE \(.+\): trellis\.db: the database is damaged; restore a backup .+\n$/,
    );
    expect(code).toBe(1);
  });
});

test('A restore with --force replaces a damaged database, and keeps it', async () => {
  const state = await copyState();
  const backup = join(folder, 'good.backup');
  expect(await run('backup', backup, '--state', state, '--quiet')).toEqual({ code: 0, output: '' });
  await damage(join(state, 'trellis.db'));
  expect(await run('restore', backup, '--state', state, '--force', '--quiet')).toEqual({ code: 0, output: '' });
  expect((await readdir(state)).filter((name) => name.startsWith('trellis.db.damaged-'))).toHaveLength(1);
});

test('A start makes damaged derived data again, deletes interrupted restores, and offers the same setup link', async () => {
  const state = await copyState();
  const link = await readFile(join(state, 'setup-link'), 'utf8');
  const [records = ''] = (await readdir(join(state, 'site'))).filter((name) => name.endsWith('.db'));
  for (const name of ['images.db', join('site', records), 'lock.db']) await damage(join(state, name));
  await mkdir(join(state, 'restore-AbC123'));
  const doctor = await run('doctor', '--state', state, '--port', '0');
  expect(doctor.output).toContain('an interrupted restore has left copies of all data in restore-AbC123');
  const server = await startServer(['--state', state]);
  const query = `${server.origin}/graphql?query=${encodeURIComponent('{ allFile { totalCount } }')}`;
  expect(await (await fetch(query)).json()).toEqual({
    data: { allFile: { totalCount: expect.any(Number) as number } },
  });
  const moved = (await readdir(state, { recursive: true })).filter((name) => name.includes('.damaged-'));
  expect(moved.map((name) => name.replace(/\.damaged-.*/, '')).sort()).toEqual([
    'images.db',
    'lock.db',
    join('site', records),
  ]);
  expect(await readdir(state)).not.toContain('restore-AbC123');
  expect(server.output()).toContain('Deleted restore-AbC123');
  await server.printed(`is in ${join(state, 'setup-link')}`);
  expect((await stat(join(state, 'setup-link'))).mode & 0o777).toBe(0o600);
  const secretOf = (text: string): string => /#setup=(\S+)/.exec(text)?.[1] ?? '';
  expect(secretOf(await readFile(join(state, 'setup-link'), 'utf8'))).toBe(secretOf(link));
  expect(server.output()).not.toContain(secretOf(link));
  await server.stop();
});

test('Records that are damaged while the site is served are made again', async () => {
  const state = await copyState();
  const server = await startServer(['--state', state], { LOG_LEVEL: 'info' });
  const ask = async (): Promise<number> => {
    const query = encodeURIComponent(
      `{ allFile(filter: { name: { ne: "${Math.random()}" } }) { nodes { name size } } }`,
    );
    const response = await fetch(`${server.origin}/graphql?query=${query}`);
    return response.ok && !('errors' in ((await response.json()) as object)) ? 200 : response.status;
  };
  expect(await ask()).toBe(200);
  const [records = ''] = (await readdir(join(state, 'site'))).filter((name) => name.endsWith('.db'));
  const file = join(state, 'site', records);
  // A write of a different connection makes the cached pages obsolete.
  const other = new DatabaseSync(file);
  other.exec(`INSERT OR REPLACE INTO "~meta" VALUES ('other', '1'); PRAGMA wal_checkpoint(TRUNCATE)`);
  other.close();
  const handle = await open(file, 'r+');
  const { size } = await handle.stat();
  await handle.write(Buffer.alloc(size - 16_384, 0xa5), 0, size - 16_384, 16_384);
  await handle.close();
  await ask();
  await server.printed('The records of the site are damaged and made again');
  await server.printed('The site is available again');
  await eventually(async () => expect(await ask()).toBe(200));
  await server.stop();
});

test('At SIGTERM a server is unready first, still serves on new connections, and closes each after its response', async () => {
  const server = await startServer([], { TRELLIS_DRAIN_SECONDS: '2' });
  const agent = new Agent({ keepAlive: true });
  const get = async (path: string) => {
    const [response] = (await once(request(server.origin + path, { agent }).end(), 'response')) as [
      NodeJS.ReadableStream & { statusCode: number; headers: Record<string, string> },
    ];
    response.resume();
    await once(response, 'end');
    return [response.statusCode, response.headers.connection];
  };
  expect(await get('/readyz')).toEqual([200, 'keep-alive']);
  const stopped = server.stop();
  await server.printed('Stopping: serving for 2 more seconds');
  expect(await get('/readyz')).toEqual([503, 'close']);
  expect(await get('/api/auth/registration-status')).toEqual([200, 'close']);
  expect(await stopped).toBe(0);
  agent.destroy();
});

test('A second signal ends a draining server at once', async () => {
  const server = await startServer([], { TRELLIS_DRAIN_SECONDS: '600' });
  server.process.kill('SIGTERM');
  await server.printed('Stopping: serving for 600 more seconds');
  server.process.kill('SIGINT');
  expect(await once(server.process, 'exit')).toEqual([null, 'SIGINT']);
});
