import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CodegenConfig } from '@graphql-codegen/cli';
import type { Types } from '@graphql-codegen/plugin-helpers';
import { ContractError, type Diagnostic } from '../../src/documents.js';
import { createTargetProgress, runGenerate } from '../../src/generate/command.js';
import { generate, openProject, type Project } from '../../src/generate/generate.js';
import { createProject, type TemporaryProject } from './temporary-project.js';

let temporary: TemporaryProject;
beforeEach(async () => void (temporary = await createProject()));
afterEach(() => temporary.close());

const inFolder = (file: string) => path.join(temporary.project.root, 'src/generated', file);
const inRoot = (file: string) => path.join(temporary.project.root, file);

/** Returns the contract errors that a run fails with. */
async function findDiagnostics(project: Project): Promise<readonly Diagnostic[]> {
  try {
    await generate(project);
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.diagnostics;
    throw error;
  }
}

test('generate: writes the files of every target', async () => {
  const outcome = await generate(temporary.project);
  expect(outcome.written).toHaveLength(4);
  expect(Object.fromEntries(await temporary.generated())).toEqual({
    'src/generated/fruits/count.ts': 'export const count = 2;\n',
    'src/generated/fruits/words.ts': "// Do not edit.\nexport const apple = 'apple';\nexport const pear = 'pear';\n",
    'src/generated/trees/count.ts': 'export const count = 1;\n',
    'src/generated/trees/words.ts': "// Do not edit.\nexport const oak = 'oak';\n",
  });
});

describe('generate: progress', () => {
  let shown: string;
  const openStream = (isTTY: boolean) => ({ isTTY, columns: 40, write: (text: string) => (shown += text) !== '' });
  const run = (isTTY: boolean) =>
    generate({ ...temporary.project, onProgress: createTargetProgress(openStream(isTTY)) });
  const writeLarge = () => temporary.write('words/fruits.txt', 'apple\n'.repeat(20_000));

  beforeEach(() => (shown = ''));

  test('names the targets of large documents on a terminal until they are made', async () => {
    await writeLarge();
    await run(true);
    const lines = shown.split('\r\u001B[K');
    expect(lines.slice(0, 2)).toEqual(['', 'Generating src/generated/fruits/, src/g']);
    expect(lines.at(-1)).toBe('');
  });

  test('is not shown for small documents', async () => {
    await run(true);
    expect(shown).toBe('');
  });

  test('is not shown elsewhere', async () => {
    await writeLarge();
    await run(false);
    expect(shown).toBe('');
  });

  test('ends with an error', async () => {
    await writeLarge();
    await temporary.write('words/trees.txt', 'OAK\n');
    await expect(run(true)).rejects.toThrow(ContractError);
    expect(shown.endsWith('\r\u001B[K')).toBe(true);
  });
});

test('generate: loads no generator if nothing changed', async () => {
  await generate(temporary.project);
  temporary.loaded.length = 0;
  const outcome = await generate(await temporary.reopen());
  expect(temporary.loaded).toEqual([]);
  expect(outcome).toMatchObject({ written: [], removed: [], unchanged: 4, generated: [] });
});

test('generate: runs only the target whose document changed, and does not rewrite equal files', async () => {
  await generate(temporary.project);
  const before = await stat(inFolder('fruits/count.ts'), { bigint: true });
  temporary.loaded.length = 0;
  await temporary.write('words/fruits.txt', 'apple\nplum\n');

  const outcome = await generate(temporary.project);
  expect(temporary.loaded).toEqual(['fruits']);
  expect(outcome.written).toEqual(['src/generated/fruits/words.ts']);
  expect((await stat(inFolder('fruits/count.ts'), { bigint: true })).mtimeNs).toBe(before.mtimeNs);
});

test.each([
  ['codegen.ts', 'the table of targets'],
  ['package-lock.json', 'the libraries'],
  ['generators/site/derive.ts', 'a generator'],
])('generate: runs every target if %s changes: %s', async (file) => {
  await generate(temporary.project);
  temporary.loaded.length = 0;
  await temporary.write(file, 'changed');
  await generate(await temporary.reopen());
  expect([...temporary.loaded].sort()).toEqual(['fruits', 'trees']);
});

test('generate: runs a target whose settings changed, as they may come from another file than codegen.ts', async () => {
  await generate(temporary.project);
  const { root, config } = temporary.project;
  const output = 'src/generated/trees/';
  const trees = { ...(config.generates[output] as Types.ConfiguredOutput), presetConfig: { strict: true } };
  const changed = { generates: { ...config.generates, [output]: trees } };
  const project = await openProject(root, changed, path.join(root, 'generators'));
  expect((await generate(project)).generated).toEqual([output]);
});

test('generate: restores an edited file', async () => {
  await generate(temporary.project);
  await writeFile(inFolder('trees/words.ts'), 'edited');
  const outcome = await generate(temporary.project);
  expect(outcome).toMatchObject({
    written: ['src/generated/trees/words.ts'],
    generated: ['src/generated/trees/'],
  });
});

test('generate: removes files that no target generates, and folders that become empty', async () => {
  await generate(temporary.project);
  await temporary.write('src/generated/old/deep/gone.ts', '');
  const outcome = await generate(temporary.project);
  expect(outcome).toMatchObject({ removed: ['src/generated/old/deep/gone.ts'], written: [], generated: [] });
  await expect(stat(inFolder('old'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('generate: reports the errors of all targets and changes no file', async () => {
  await generate(temporary.project);
  const before = await temporary.generated();
  await temporary.write('words/fruits.txt', 'plum\n12\n');
  await temporary.write('words/trees.txt', '?\n');
  expect(await findDiagnostics(temporary.project)).toEqual([
    { file: 'words/fruits.txt', line: 2, column: 1, message: 'Expected a word; received "12".' },
    { file: 'words/trees.txt', line: 1, column: 1, message: 'Expected a word; received "?".' },
  ]);
  expect(await temporary.generated()).toEqual(before);
});

test('generate: returns the stubs of all targets without running those that have not changed', async () => {
  const { stubs } = await generate(temporary.project);
  expect(stubs.map(({ file }) => file)).toEqual(['src/apple.ts', 'src/oak.ts']);
  temporary.loaded.length = 0;
  await temporary.write('words/trees.txt', 'elm\n');
  const again = await generate(temporary.project);
  expect(again.stubs.map(({ file }) => file)).toEqual(['src/apple.ts', 'src/elm.ts']);
  expect(temporary.loaded).toEqual(['trees']);
});

test.each([
  ['not JSON', 'invalid JSON'],
  ['[1]', 'a list'],
  ['{"src/generated/fruits/":{"inputs":1}}', 'an entry without outputs'],
])('generate: treats the cache %s as empty: %s', async (text) => {
  await generate(temporary.project);
  temporary.loaded.length = 0;
  await temporary.write('.cache/generate.json', text);
  const outcome = await generate(temporary.project);
  expect([...temporary.loaded].sort()).toEqual(['fruits', 'trees']);
  expect(outcome.written).toEqual([]);
  expect(await readFile(inRoot('.cache/generate.json'), 'utf8')).not.toBe(text);
});

test('generate: rejects two targets that generate the same file', async () => {
  const { root, config } = temporary.project;
  const generates = { ...config.generates, 'src/generated/copy/': copyOf(config.generates['src/generated/fruits/']) };
  await expect(generate(await openProject(root, { ...config, generates }))).rejects.toThrow(
    'Two targets generate src/generated/fruits/words.ts.',
  );
});

test.each(['', '--check', '--stub'])(
  'generate %s: reports a file that cannot be read or written in one line',
  async (flag) => {
    const { root, config } = temporary.project;
    await temporary.write('src/generated', 'a file in place of the folder');
    const printed = await readErrors(async () => {
      expect(await runGenerate(flag === '' ? [] : [flag], root, config)).toBe(1);
    });
    const reason = `ENOTDIR: not a directory, scandir '${inRoot('src/generated')}'`;
    expect(printed).toEqual([`The files of the project can't be read or written: ${reason}.\n`]);
  },
);

test.each(['', '--stub'])('generate %s: prints the warnings', async (flag) => {
  const { root, config } = temporary.project;
  await temporary.write('words/trees.txt', 'oak\nweed\n');
  const printed = await readErrors(async () => {
    expect(await runGenerate(flag === '' ? [] : [flag], root, config)).toBe(0);
  });
  expect(printed).toEqual(['words/trees.txt:2:1 A weed.\n  weed\n  ^\n1 warning.\n']);
});

/** Returns what is printed as an error. */
async function readErrors(run: () => Promise<void>): Promise<readonly string[]> {
  const printed: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text) => printed.push(String(text)) > 0;
  try {
    await run();
  } finally {
    process.stderr.write = write;
  }
  return printed;
}

test.each(['', '--check', '--stub', '--watch'])(
  'generate %s: reports a mistake of codegen.ts in one line',
  async (flag) => {
    const { root, config } = temporary.project;
    const target = config.generates['src/generated/fruits/'] ?? [];
    const [printed] = await readErrors(async () => {
      expect(await runGenerate(flag === '' ? [] : [flag], root, { generates: { 'src/gql/types.ts': target } })).toBe(1);
    });
    expect(printed).toMatch(/^codegen.ts:1:1 Expected an output below src\/generated; received src\/gql\/types.ts.\n/);
  },
);

test('generate: reports a pattern that matches no document', async () => {
  const { root } = temporary.project;
  const lost = { schema: [], watchPattern: 'words/*.yaml', preset: { buildGeneratesSection: () => [] } };
  const project = await openProject(root, { generates: { 'src/generated/lost/': lost } });
  expect(await findDiagnostics(project)).toEqual([
    { file: 'words/*.yaml', line: 1, column: 1, message: 'No document matches the pattern.' },
  ]);
});

test('generate: reports an unexpected error as the failure of a generator', async () => {
  const broken = {
    schema: [],
    preset: { buildGeneratesSection: () => Promise.reject(new TypeError('Unexpected.')) },
  };
  const project = await openProject(temporary.project.root, { generates: { 'src/generated/broken/': broken } });
  await expect(generate(project)).rejects.toMatchObject({
    message: 'A generator failed.',
    cause: { message: 'Unexpected.' },
  });
});

test('openProject: rejects an output outside src/generated, as stale files are removed from outputs', async () => {
  const generates = { 'src/': temporary.project.config.generates['src/generated/fruits/'] ?? [] };
  await expect(openProject(temporary.project.root, { generates })).rejects.toThrow(
    'Expected an output below src/generated; received src/.',
  );
});

/** Returns an output whose preset writes into the folder of the fruits. */
function copyOf(output: CodegenConfig['generates'][string] | undefined): CodegenConfig['generates'][string] {
  if (output === undefined || Array.isArray(output) || typeof output.preset !== 'object') throw new Error('No preset.');
  const { buildGeneratesSection } = output.preset;
  return {
    ...output,
    preset: {
      buildGeneratesSection: (options) => buildGeneratesSection({ ...options, baseOutputDir: 'src/generated/fruits/' }),
    },
  };
}
