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
