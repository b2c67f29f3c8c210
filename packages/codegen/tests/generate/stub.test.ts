import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { writeStubs } from '../../src/generate/stub.js';
import type { Stub } from '../../src/output.js';

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

test('writeStubs: creates a missing file and its folder', async () => {
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

test('writeStubs: adds missing members to the file of the folder that declares the object', async () => {
  const account = path.join(root, 'src/account.ts');
  await writeFile(account, 'export const health = (): Handlers => ({\n  async getHealth() {},\n});\n');
  expect(await writeStubs(root, [stub])).toEqual([{ file: 'src/account.ts', written: ['getVersion'] }]);
  expect(await readFile(account, 'utf8')).toContain('  async getVersion() {},\n});\n');
});

const use = { file: 'src/handlers.ts', lines: ["import { health } from './health.js';", '...health(),'] };

test.each([
  ['that does not exist', undefined, use],
  ['that does not mention the object', 'export const handlers = { ...healthy() };\n', use],
  ['that mentions the object', "import { health } from './health.js';\n", undefined],
])('writeStubs: returns the lines to add to a file %s', async (_reason, text, toAdd) => {
  if (text !== undefined) await writeFile(path.join(root, use.file), text);
  const [outcome] = await writeStubs(root, [{ ...stub, use }]);
  expect(outcome?.toAdd).toEqual(toAdd);
});

test('writeStubs: returns the lines to add until they are added, even if the stub exists', async () => {
  await writeStubs(root, [{ ...stub, use }]);
  expect(await writeStubs(root, [{ ...stub, use }])).toEqual([{ file: stub.file, written: [], toAdd: use }]);
  await writeFile(path.join(root, use.file), 'health');
  expect(await writeStubs(root, [{ ...stub, use }])).toEqual([]);
});

test.each([
  [
    'returned by an arrow function',
    'export const health = () => ({\n  getHealth: 1, // kept\n});\nrest( );\n',
    'export const health = () => ({\n  getHealth: 1, // kept\n  async getVersion() {},\n});\nrest( );\n',
  ],
  [
    'without a trailing comma',
    'export const health = {\n  getHealth() {}\n  // kept\n}\n',
    'export const health = {\n  getHealth() {},\n  // kept\n  async getVersion() {},\n}\n',
  ],
  [
    'returned by a function declaration',
    "export function health() {\n  const a = 1;\n  return { 'getHealth': a };\n}\n",
    "export function health() {\n  const a = 1;\n  return { 'getHealth': a,\n    async getVersion() {},\n   };\n}\n",
  ],
  [
    'with a satisfies expression',
    'export const health = { getHealth } satisfies Handlers;\n',
    'export const health = { getHealth,\n  async getVersion() {},\n } satisfies Handlers;\n',
  ],
  [
    'without members',
    'export const health: Handlers = {};\n',
    'export const health: Handlers = {\n  async getHealth() {\n    throw new Error();\n  },\n  async getVersion() {},\n};\n',
  ],
  [
    'with CRLF line ends',
    'export const health = {\r\n\tgetHealth,\r\n};\r\n',
    'export const health = {\r\n\tgetHealth,\r\n  async getVersion() {},\r\n};\r\n',
  ],
])(
  'writeStubs: inserts missing members into an object and preserves all other text: %s',
  async (_reason, before, after) => {
    expect(await stubInto(before)).toBe(after);
  },
);

test('writeStubs: does not rewrite a file that has every member', async () => {
  await writeFile(file(), 'export const health = { getVersion() {}, getHealth };');
  const before = await stat(file(), { bigint: true });
  expect(await writeStubs(root, [stub])).toEqual([]);
  expect((await stat(file(), { bigint: true })).mtimeNs).toBe(before.mtimeNs);
});

test('writeStubs: writes nothing when it runs again', async () => {
  await writeStubs(root, [stub]);
  expect(await writeStubs(root, [stub])).toEqual([]);
});

test.each([
  ['export const other = {};', 'No object literal named health found.'],
  ['export const health = make();', 'No object literal named health found.'],
  ['export const health = { ...other };', 'health spreads another object, which may contain the missing members.'],
])('writeStubs: does not change %s and returns the reason', async (text, refused) => {
  await writeFile(file(), text);
  expect(await writeStubs(root, [stub])).toEqual([{ file: stub.file, written: [], refused }]);
  expect(await readFile(file(), 'utf8')).toBe(text);
});
