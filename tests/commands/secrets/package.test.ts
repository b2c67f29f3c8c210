import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packExecutable } from '../../../scripts/pack-executable.js';
import { packSecrets } from '../../../scripts/pack-secrets.js';
import { installTool } from '../../../tools/install.js';
import { openSecretsCli, newName, type SecretsCli } from './secrets-cli.js';

const run = promisify(execFile);

let folder: string;
let cli: SecretsCli;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-secrets-package-'));
  cli = await openSecretsCli();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await cli.close();
});

test('the package of the command line needs nothing else, and has the licences of its code', async () => {
  const archive = await packSecrets(join(folder, 'packed'));
  await run('tar', ['-xzf', archive, '-C', folder]);
  expect((await stat(archive)).size).toBeLessThan(1_000_000);
  const program = join(folder, 'package/dist/cli.js');
  const call = (...args: string[]) =>
    run(process.execPath, [program, ...args], { env: { ...cli.env, PATH: process.env.PATH } });

  await cli.run(['put', 'db-password', '--consumer', cli.consumer], { stdin: 'hunter2' });
  expect((await call('secrets', 'get', 'db-password')).stdout).toBe('hunter2');
  expect((await call('secrets', 'list')).stdout).toContain('acme/shop');
  expect((await call('completion', 'bash')).stdout).toContain('complete -F');
  await expect(call('serve')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('only') as unknown });

  const licences = join(folder, 'package/dist/licenses');
  const named = await readdir(licences);
  expect(named).toEqual(expect.arrayContaining(['age-encryption', 'commander', 'openapi-fetch', 'yaml', 'zod']));
  for (const name of named) expect([name, await readdir(join(licences, name))]).not.toEqual([name, []]);
});

test('the single file reads and runs with secrets, without Node in PATH', async () => {
  installTool('tools/postject');
  const program = await packExecutable(join(folder, 'executable'));
  const call = (...args: string[]) => run(program, args, { env: { ...cli.env, PATH: '/usr/bin:/bin' } });
  const name = newName();
  await cli.run(['put', name, '--consumer', cli.consumer], { stdin: 'hunter2' });
  expect((await call('secrets', 'get', name)).stdout).toBe('hunter2');
  const script = ['sh', '-c', 'printf %s "$PASSWORD"'];
  expect((await call('secrets', 'run', '--secret', `PASSWORD=${name}`, '--', ...script)).stdout).toBe('hunter2');
  expect((await call('secrets', 'list')).stdout).toContain('acme/shop');
  expect((await call('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  await expect(call('serve')).rejects.toMatchObject({ code: 2 });
});
