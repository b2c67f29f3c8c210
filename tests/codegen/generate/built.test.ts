/** The built command runs the services of this repository in threads, and writes their types without the compiler. */
import path from 'node:path';
import { readGenerated } from '@trellis/codegen/generate/generate';
import { copyRepository, repository, type RepositoryCopy, runNode } from './repository-copy.js';

let copy: RepositoryCopy;
beforeAll(async () => {
  copy = await copyRepository();
  await edit('codegen.ts', './packages/codegen/src/targets.js', '@trellis/codegen/targets');
});
afterAll(() => copy.close());

const run = (...flags: string[]) => runNode(copy.root, [path.join(repository, 'dist/cli.js'), 'generate', ...flags]);

async function edit(file: string, from: string, to: string): Promise<void> {
  await copy.edit(file, (text) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  });
}

test('the built command writes the files of this repository', async () => {
  expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await copy.generated()).toEqual(await readGenerated(repository));
});

test('the built command reports the errors of all threads, and the contract lines of differences', async () => {
  await edit('openapi/dashboard.yaml', 'type: integer', 'type: integr');
  await edit('openapi/secrets.yaml', 'type: integer', 'type: integr');
  const { exitCode, stderr } = await run();
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^openapi\/dashboard\.yaml:\d+:\d+ .*integr/mu);
  expect(stderr).toMatch(/^openapi\/secrets\.yaml:\d+:\d+ .*integr/mu);
  await edit('openapi/secrets.yaml', 'type: integr', 'type: integer');
  await edit('openapi/dashboard.yaml', 'type: integr', 'type: integer');
  await edit('openapi/dashboard.yaml', 'Check liveness', 'Check whether it lives');
  const checked = await run('--check');
  expect(checked.exitCode).toBe(1);
  expect(checked.stderr).toMatch(/from openapi\/dashboard\.yaml:\d+:\d+\n/u);
});
