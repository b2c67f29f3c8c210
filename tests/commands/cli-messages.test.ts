import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compileServer } from '../contract/compiled-server.js';

const cli = await compileServer();

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-cli-'))));
afterAll(() => rm(folder, { recursive: true }));

test('an unreachable database is reported in one line without its URL', async () => {
  const address = {
    TRELLIS_STATE: path.join(folder, 'own'),
    PORT: '0',
    DATABASE_URL: 'postgres://me:geheim@127.0.0.1:1/x',
  };
  const err = "trellis: DATABASE_URL: the PostgreSQL server can't be reached: ECONNREFUSED\n";
  expect(await cli.run(['serve', '--state', path.join(folder, 'state')], address)).toEqual({ code: 1, out: '', err });
  expect(await cli.run(['backup', path.join(folder, 'other.backup')], address)).toEqual({ code: 1, out: '', err });
});

test.each(['backup', 'restore', 'doctor'])('%s --help: lists the options', async (command) => {
  const { code, out } = await cli.run([command, '--help']);
  expect([code, out]).toEqual([0, expect.stringMatching(/--database-url <url> .*\[DATABASE_URL\]/s) as string]);
});

test.each([
  [['--version'], "trellis: The output can't be written: ENOSPC\n"],
  [['completion', 'bash'], "trellis: The output can't be written: ENOSPC\n"],
  [['check-config', '--json'], '{"error":"The output can\'t be written: ENOSPC","exit_code":1}\n'],
])("%j: an output that can't be written is reported in one line", (args, line) => {
  const stdio: ['ignore', number, 'pipe'] = ['ignore', openSync('/dev/full', 'w'), 'pipe'];
  const { status, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...args], { stdio, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, line]);
});
