import { spawn } from 'node:child_process';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { copySmallRepository, generateArguments, type RepositoryCopy } from './repository-copy.js';

/** A repository copy whose files are generated once for all tests. */
let copy: RepositoryCopy;
beforeAll(async () => {
  copy = await copySmallRepository();
  expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
});
afterAll(() => copy.close());

const inRoot = (file: string) => path.join(copy.root, file);
const generated = () => copy.generated();
const run = (...flags: string[]) => copy.generate(...flags);

/** Changes a file while `test` runs, then restores it. */
async function withText(file: string, change: (text: string) => string, test: () => Promise<void>): Promise<void> {
  const text = await readFile(inRoot(file), 'utf8');
  await writeFile(inRoot(file), change(text));
  try {
    await test();
  } finally {
    await writeFile(inRoot(file), text);
  }
}

test('npm run generate: the output is the same in another process', async () => {
  expect(await run('--check')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('npm run generate: changes no file if the contracts have not changed', async () => {
  const before = await generated();
  expect(await run()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Nothing changed: ') as string });
  expect(await generated()).toEqual(before);
});

test('npm run generate -- --check: reports edited, deleted and stale files, and changes of a contract', async () => {
  const before = await generated();
  await appendFile(inRoot('src/generated/site/records.ts'), '// edited\n');
  await rm(inRoot('src/generated/dashboard/client.ts'));
  await writeFile(inRoot('src/generated/old.ts'), '');
  await withText(
    'openapi/secrets.yaml',
    (text) => text.replace('title: Notes', 'title: Other'),
    async () => {
      const { exitCode, stderr } = await run('--check');
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^src\/generated\/site\/records\.ts:\d+ differs\.$/mu);
      expect(stderr).toMatch(/^src\/generated\/dashboard\/client\.ts is missing\.$/mu);
      expect(stderr).toMatch(/^src\/generated\/old\.ts is stale: no contract generates it\.$/mu);
      expect(stderr).toMatch(/^src\/generated\/secrets\/openapi\.json:\d+ differs\.$/mu);
      expect(stderr).toContain('Run "npm run generate"');
    },
  );
  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await generated()).toEqual(before);
});

test('npm run generate: reads .gql files, and those in folders of schema/', async () => {
  await mkdir(inRoot('schema/plants'));
  await writeFile(inRoot('schema/plants/herb.gql'), 'type Herb implements Node @record {\n  title: String!\n}\n');
  expect((await run('--check')).stderr).toContain('src/generated/site/records.ts');
  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await readFile(inRoot('src/generated/site/schema.graphql'), 'utf8')).toContain('type Herb implements Node');
  await rm(inRoot('schema/plants'), { recursive: true });
  expect(await run()).toMatchObject({ exitCode: 0 });
});

test('npm run generate: prints an error with its line and a caret, and changes no file', async () => {
  const before = await generated();
  await withText(
    'schema/file.graphql',
    (text) => `${text}\ntype Herb {\n  title: Strng\n}\n`,
    async () => {
      const { exitCode, stderr } = await run();
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^schema\/file\.graphql:\d+:10 .*Strng.*\n {4}title: Strng\n {11}\^\n/u);
      const [, guide = ''] = /1 error\. No file was changed\. What contracts may contain: (.+)\n$/u.exec(stderr) ?? [];
      expect(await readFile(inRoot(guide), 'utf8')).toMatch(/^# What contracts may contain\n/u);
    },
  );
  expect(await generated()).toEqual(before);
});

test.each([
  [['--help'], 0, 'Usage: npm run generate', 'help'],
  [['--chek'], 2, "Unknown option '--chek'", 'an unknown flag'],
  [['schema'], 2, "Unexpected argument 'schema'", 'an unexpected argument'],
  [['--check', '--watch'], 2, 'Expected at most one flag', 'two flags'],
])('npm run generate: %j exits with %i and prints %j: %s', async (flags, exitCode, printed) => {
  const result = await run(...flags);
  expect(result.exitCode).toBe(exitCode);
  expect(result.stdout + result.stderr).toContain(printed);
});

test('npm run generate -- --watch: generates after a save, continues after an error, and ends on SIGINT', async () => {
  const watching = spawn(process.execPath, generateArguments(['--watch']), { cwd: copy.root });
  const exitCode = new Promise((resolve) => watching.once('exit', resolve));
  let output = '';
  const collect = (chunk: Buffer) => (output += chunk.toString());
  watching.stdout.on('data', collect);
  watching.stderr.on('data', collect);
  const waitFor = async (expected: string) => {
    while (!output.includes(expected) && watching.exitCode === null) await new Promise((wake) => setTimeout(wake, 20));
    expect(output).toContain(expected);
    output = '';
  };

  await waitFor('Nothing changed');
  await withText(
    'schema/file.graphql',
    (text) => `${text}\ntype Herb implements Node @record {\n  title: String!\n}\n`,
    () => waitFor('Generated: '),
  );
  await waitFor('Generated: ');
  await withText(
    'schema/file.graphql',
    (text) => `${text}\ntype Herb {\n  title: Strng\n}\n`,
    () => waitFor('No file was changed'),
  );
  await waitFor('Nothing changed');
  watching.kill('SIGINT');
  expect(await exitCode).toBe(0);
});
