import { execFile } from 'node:child_process';
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-assemble-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('assemble.sh copies the program and the site that it serves by default', async () => {
  // The packages of production take half a minute to install.
  await writeFile(join(folder, 'npm'), '#!/bin/sh\necho "npm $1 in $PWD"\n');
  await chmod(join(folder, 'npm'), 0o755);
  const target = join(folder, 'a server');
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ''}` };
  const { stdout } = await run('deploy/assemble.sh', [target], { env });
  expect(stdout).toBe(`npm ci in ${target}\n`);
  for (const file of [
    'dist/cli.js',
    'packages/core/dist/errors.js',
    'scripts/prestart.js',
    'examples/site/site.config.json',
  ])
    await access(join(target, file));
});
