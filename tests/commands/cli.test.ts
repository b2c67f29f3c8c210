import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type CompiledServer, compileServer } from '../contract/compiled-server.js';
import { createDatabaseTarget, engine } from '../storage/engine.js';

let folder: string;
let cli: CompiledServer;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-cli-'));
  cli = await compileServer();
  const place = await createDatabaseTarget();
  env = { TRELLIS_STATE: path.join(folder, 'state'), TRELLIS_SERVICES: 'dashboard', PORT: '0' };
  if ('url' in place) env.DATABASE_URL = place.url;
});
afterAll(async () => {
  await cli.remove();
  await rm(folder, { recursive: true, force: true });
});

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

test('backup and doctor work while the server runs; restore requires that it is stopped', async () => {
  const file = path.join(folder, 'trellis.backup');
  const child = await cli.start([], env);
  expect(await cli.run(['backup', file], env)).toMatchObject({ code: 0, out: '' });
  const doctor = await cli.run(['doctor'], env);
  expect(doctor).toMatchObject({ code: 0, err: '' });
  expect(doctor.out).toMatch(new RegExp(`^ok    database: ${engine} `, 'm'));
  expect(doctor.out).toContain('ok    server: running on this state folder\n');
  expect(await cli.run(['restore', file, '--force'], env)).toEqual({
    code: 1,
    out: '',
    err: `trellis: TRELLIS_STATE (${env.TRELLIS_STATE}): the state folder is in use by another server\n`,
  });
  await stop(child);
  const restored = await cli.run(['restore', file], env);
  expect(restored).toMatchObject({ code: 0, err: expect.stringMatching(/^Restored \d+ rows of /) as string });
  await stop(await cli.start([], env));
});
