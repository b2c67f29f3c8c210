import { spawn } from 'node:child_process';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { copyRepository, generateArguments } from './repository-copy.js';
import type { RepositoryCopy } from './repository-copy.js';

/** Generated once, for all tests. */
let copy: RepositoryCopy;
beforeAll(async () => {
  copy = await copyRepository();
  expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
});
afterAll(() => copy.close());

const inRoot = (file: string) => path.join(copy.root, file);
const generated = () => copy.generated();
const run = (...flags: string[]) => copy.generate(...flags);

/** Changes a file for as long as a test runs. */
async function withText(file: string, change: (text: string) => string, test: () => Promise<void>): Promise<void> {
  const text = await readFile(inRoot(file), 'utf8');
  await writeFile(inRoot(file), change(text));
  try {
    await test();
  } finally {
    await writeFile(inRoot(file), text);
  }
}

test('another process makes the same bytes', async () => {
  expect(await run('--check')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a run with nothing changed touches nothing', async () => {
  const before = await generated();
  expect(await run()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Nothing changed: ') as string });
  expect(await generated()).toEqual(before);
});

test('--check tells what was edited, deleted and left over, and what a contract changed', async () => {
  const before = await generated();
  await appendFile(inRoot('src/generated/site/records.ts'), '// edited\n');
  await rm(inRoot('src/generated/dashboard/client.ts'));
  await writeFile(inRoot('src/generated/old.ts'), '');
  await withText(
    'openapi/secrets.yaml',
    (text) => text.replace(/^( *title: ).*$/mu, '$1Other'),
    async () => {
      const { exitCode, stderr } = await run('--check');
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^src\/generated\/site\/records\.ts:\d+ differs\.$/mu);
      expect(stderr).toMatch(/^src\/generated\/dashboard\/client\.ts is missing\.$/mu);
      expect(stderr).toMatch(/^src\/generated\/old\.ts is stale: no contract makes it\.$/mu);
      expect(stderr).toMatch(/^src\/generated\/secrets\/openapi\.json:\d+ differs\.$/mu);
      expect(stderr).toContain('Run "npm run generate"');
    },
  );
  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await generated()).toEqual(before);
});

test('a mistake is shown with its line and a caret, and no file is touched', async () => {
  const before = await generated();
  await withText(
    'schema/file.graphql',
    (text) => `${text}\ntype Herb {\n  title: Strng\n}\n`,
    async () => {
      const { exitCode, stderr } = await run();
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^schema\/file\.graphql:\d+:10 .*Strng.*\n {4}title: Strng\n {11}\^\n/u);
      expect(stderr).toMatch(/no file was touched\.\n$/u);
    },
  );
  expect(await generated()).toEqual(before);
});

test.each([
  [['--help'], 0, 'Usage: npm run generate', 'it is asked for help'],
  [['--chek'], 2, "Unknown option '--chek'", 'a flag is unknown'],
  [['schema'], 2, "Unexpected argument 'schema'", 'it takes no names'],
  [['--check', '--watch'], 2, 'Expected at most one flag', 'two flags contradict each other'],
])('%j ends with %i and says %j: %s', async (flags, exitCode, said) => {
  const result = await run(...flags);
  expect(result.exitCode).toBe(exitCode);
  expect(result.stdout + result.stderr).toContain(said);
});

test('--watch generates after a save, goes on after a mistake, and ends when interrupted', async () => {
  const watching = spawn(process.execPath, generateArguments(['--watch']), { cwd: copy.root });
  const exitCode = new Promise((resolve) => watching.once('exit', resolve));
  let said = '';
  const hear = (chunk: Buffer) => (said += chunk.toString());
  watching.stdout.on('data', hear);
  watching.stderr.on('data', hear);
  const hears = async (expected: string) => {
    while (!said.includes(expected) && watching.exitCode === null) await new Promise((wake) => setTimeout(wake, 20));
    expect(said).toContain(expected);
    said = '';
  };

  await hears('Nothing changed');
  await withText(
    'schema/file.graphql',
    (text) => `${text}\ntype Herb implements Node @record {\n  title: String!\n}\n`,
    () => hears('Generated: '),
  );
  await hears('Generated: ');
  await withText(
    'schema/file.graphql',
    (text) => `${text}\ntype Herb {\n  title: Strng\n}\n`,
    () => hears('no file was touched'),
  );
  await hears('Nothing changed');
  watching.kill('SIGINT');
  expect(await exitCode).toBe(0);
});
