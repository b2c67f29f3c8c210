import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { writeStubs } from '../../src/codegen/stub.js';
import type { Stub } from '../../src/codegen/generated.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'trellis-stub-'));
  await mkdir(path.join(root, 'src'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const stub: Stub = {
  file: 'src/health.ts',
  header: 'export const health = (): Handlers => ({',
  footer: '});\n',
  exportName: 'health',
  members: [
    { name: 'getHealth', text: 'async getHealth() {\n  throw new Error();\n},' },
    { name: 'getVersion', text: 'async getVersion() {},' },
  ],
};

const file = () => path.join(root, stub.file);

async function stubInto(text: string): Promise<string> {
  await writeFile(file(), text);
  await writeStubs(root, [stub]);
  return readFile(file(), 'utf8');
}

test('creates a file that is missing, with its folder', async () => {
  const outcomes = await writeStubs(root, [{ ...stub, file: 'src/handlers/health.ts' }]);
  expect(outcomes).toEqual([{ file: 'src/handlers/health.ts', written: ['getHealth', 'getVersion'] }]);
  expect(await readFile(path.join(root, 'src/handlers/health.ts'), 'utf8')).toBe(
    [
      'export const health = (): Handlers => ({',
      '  async getHealth() {',
      '    throw new Error();',
      '  },',
      '  async getVersion() {},',
      '});',
      '',
    ].join('\n'),
  );
});

const use = { file: 'src/handlers.ts', lines: ["import { health } from './health.js';", '...health(),'] };

test.each([
  ['that is not there', undefined, use],
  ['that does not name it', 'export const handlers = { ...healthy() };\n', use],
  ['that has it', "import { health } from './health.js';\n", undefined],
])('tells what to add to a file %s', async (_reason, text, toAdd) => {
  if (text !== undefined) await writeFile(path.join(root, use.file), text);
  const [outcome] = await writeStubs(root, [{ ...stub, use }]);
  expect(outcome?.toAdd).toEqual(toAdd);
});

test('tells it again while it is missing, although the skeleton is written', async () => {
  await writeStubs(root, [{ ...stub, use }]);
  expect(await writeStubs(root, [{ ...stub, use }])).toEqual([{ file: stub.file, written: [], toAdd: use }]);
  await writeFile(path.join(root, use.file), 'health');
  expect(await writeStubs(root, [{ ...stub, use }])).toEqual([]);
});

test.each([
  [
    'an arrow function that returns it',
    'export const health = () => ({\n  getHealth: 1, // kept\n});\nrest( );\n',
    'export const health = () => ({\n  getHealth: 1, // kept\n  async getVersion() {},\n});\nrest( );\n',
  ],
  [
    'no trailing comma',
    'export const health = {\n  getHealth() {}\n  // kept\n}\n',
    'export const health = {\n  getHealth() {},\n  // kept\n  async getVersion() {},\n}\n',
  ],
  [
    'a function with a return, deeper in',
    "export function health() {\n  const a = 1;\n  return { 'getHealth': a };\n}\n",
    "export function health() {\n  const a = 1;\n  return { 'getHealth': a,\n    async getVersion() {},\n   };\n}\n",
  ],
  [
    'satisfies',
    'export const health = { getHealth } satisfies Handlers;\n',
    'export const health = { getHealth,\n  async getVersion() {},\n } satisfies Handlers;\n',
  ],
  [
    'no member',
    'export const health: Handlers = {};\n',
    'export const health: Handlers = {\n  async getHealth() {\n    throw new Error();\n  },\n  async getVersion() {},\n};\n',
  ],
  [
    'the line ends of another system',
    'export const health = {\r\n\tgetHealth,\r\n};\r\n',
    'export const health = {\r\n\tgetHealth,\r\n  async getVersion() {},\r\n};\r\n',
  ],
])('inserts what is missing and keeps every other byte: %s', async (_reason, before, after) => {
  expect(await stubInto(before)).toBe(after);
});

test('leaves a file that has every member untouched', async () => {
  await writeFile(file(), 'export const health = { getVersion() {}, getHealth };');
  const before = await stat(file(), { bigint: true });
  expect(await writeStubs(root, [stub])).toEqual([]);
  expect((await stat(file(), { bigint: true })).mtimeNs).toBe(before.mtimeNs);
});

test('finds nothing to write a second time', async () => {
  await writeStubs(root, [stub]);
  expect(await writeStubs(root, [stub])).toEqual([]);
});

test.each([
  ['export const other = {};', 'Expected an object literal named health; found none.'],
  ['export const health = make();', 'Expected an object literal named health; found none.'],
  ['export const health = { ...other };', 'health spreads another object, which may hold its members.'],
])('leaves %s alone and says why', async (text, refused) => {
  await writeFile(file(), text);
  expect(await writeStubs(root, [stub])).toEqual([{ file: stub.file, written: [], refused }]);
  expect(await readFile(file(), 'utf8')).toBe(text);
});
