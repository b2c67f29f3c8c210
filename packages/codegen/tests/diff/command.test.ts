import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { compareWithRef, runDiff } from '../../src/diff/command.js';
import { deriveFullSchema, getDerivation } from '../../src/site/load-schema.js';
import { COMMON, COMMON_FILE, NOTES, NOTES_FILE } from '../openapi/example.js';
import { documentsWith } from '../site/documents.js';

const run = promisify(execFile);

const CONFIG = {
  generates: {
    'src/generated/site/': { schema: 'schema/**/*.{graphql,gql}' },
    'src/generated/dashboard/': { schema: [], watchPattern: [NOTES_FILE, COMMON_FILE] },
  },
};

const SITE = documentsWith(
  'type Pot implements Node @record {\n  size: Int!\n  name: String!\n}\n',
  'schema/beds/garden.gql',
);

/** The path of an operation, and its function. */
const PROGRAM =
  "import { listNotes } from './generated/dashboard/calls.js';\nawait listNotes(client);\nclient.POST('/notes');\n";

let root: string;
let printed: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'trellis-diff-'));
  printed = '';
  const published = getDerivation(deriveFullSchema(SITE)).sdl;
  const files = [...SITE, [NOTES_FILE, NOTES], [COMMON_FILE, COMMON], ['src/notes.ts', PROGRAM]] as const;
  for (const [file, text] of [...files, ['src/generated/site/schema.graphql', published] as const])
    await write(file, text);
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Start');
});
afterEach(() => rm(root, { recursive: true }));

/** Runs the command and collects its output. */
function diff(...args: readonly string[]): Promise<number> {
  const stream = { write: (text: string) => (printed += text) };
  return runDiff(args, root, CONFIG, { stdout: stream, stderr: stream });
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}

async function edit(file: string, part: string, replacement: string): Promise<void> {
  const text = await readFile(path.join(root, file), 'utf8');
  expect(text).toContain(part);
  await write(file, text.replace(part, replacement));
}

const git = (...args: readonly string[]) =>
  run('git', args, {
    cwd: root,
    env: {
      ...{ ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
      ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'a@example.org' },
      ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'a@example.org' },
    },
  });

test('an unchanged project has no changes', async () => {
  expect(await diff('HEAD')).toBe(0);
  expect(printed).toBe('0 breaking, 0 dangerous and 0 safe changes of the contracts since HEAD.\n');
});

test('a breaking change is shown with its line, operations and programs, and fails', async () => {
  await edit(NOTES_FILE, 'maximum: 50', 'maximum: 40');
  expect(await diff('main')).toBe(1);
  const line = NOTES.slice(0, NOTES.indexOf('maximum: 50')).split('\n').length;
  expect(printed).toContain(
    `${NOTES_FILE}:${line}:36 breaking: maximum is 40 instead of 50. [request-bound-tightened]\n`,
  );
  expect(printed).toContain('  affects listNotes\n  used in src/notes.ts:2, src/notes.ts:3\n');
  expect(printed).toContain('1 breaking, 0 dangerous and 0 safe changes of the contracts since main.\n');
});

describe('OpenAPI 3.0', () => {
  const OLD = `openapi: 3.0.3
servers: [{ url: /v1 }]
paths:
  /notes:
    post:
      operationId: addNote
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } } }
      responses: { '204': { description: Done. } }
components:
  schemas:
    Note:
      type: object
      properties:
        text: { type: string, nullable: true }
        size: { type: integer, minimum: 1, exclusiveMinimum: true }
`;

  beforeEach(async () => {
    await write(NOTES_FILE, OLD);
    await git('commit', '--quiet', '--all', '--message', 'Use OpenAPI 3.0');
  });

  test('null that is no longer accepted is a breaking change', async () => {
    await edit(NOTES_FILE, ', nullable: true', '');
    expect(await diff('HEAD')).toBe(1);
    expect(printed).toContain(`${NOTES_FILE}:14:`);
    expect(printed).toContain('1 breaking, 0 dangerous and 0 safe changes');
  });

  test('the same rules in OpenAPI 3.1 are not listed', async () => {
    await edit(NOTES_FILE, '3.0.3', '3.1.0');
    await edit(NOTES_FILE, 'type: string, nullable: true', "type: [string, 'null']");
    await edit(NOTES_FILE, 'minimum: 1, exclusiveMinimum: true', 'exclusiveMinimum: 1');
    expect(await diff('HEAD')).toBe(0);
    expect(printed).toContain('0 breaking, 0 dangerous and 0 safe changes');
  });
});

test('a change of a record type is compared as clients see it, from its line', async () => {
  await edit('schema/beds/garden.gql', '  size: Int!\n', '');
  const changes = await compareWithRef(root, CONFIG, 'HEAD');
  expect(changes.find(({ message }) => message === 'Pot.size was removed.')).toMatchObject({
    severity: 'breaking',
    location: { file: 'HEAD:schema/beds/garden.gql', line: 2 },
    operations: expect.arrayContaining(['pot', 'allPot']) as string[],
  });
  expect(changes.map(({ message }) => message)).toContain('PotFilterInput.size was removed.');
});

test('a changed component of a second document is listed once, with all operations', async () => {
  await edit(COMMON_FILE, 'required: [error]', 'required: []');
  const changes = await compareWithRef(root, CONFIG, 'HEAD');
  expect(changes.map(({ rule, location }) => [rule, location.file])).toEqual([
    ['response-property-became-optional', COMMON_FILE],
  ]);
  expect(changes[0]?.operations).toEqual(expect.arrayContaining(['listNotes', 'createNote']));
});

describe('a contract in other files than one of YAML', () => {
  const config = (...documents: string[]) => ({
    generates: { 'src/generated/pets/': { schema: [], watchPattern: documents } },
  });
  const listRules = async (...documents: string[]) =>
    (await compareWithRef(root, config(...documents), 'HEAD')).map(({ rule, location: { file, line } }) => [
      rule,
      `${file}:${line}`,
    ]);
  const commit = async () => {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'Add');
  };

  test('is compared if it is JSON', async () => {
    const pets = { get: { operationId: 'listPets', responses: { 204: { description: 'None.' } } } };
    await write('openapi/pets.json', JSON.stringify({ openapi: '3.1.0', paths: { '/pets': pets } }));
    await commit();
    await edit('openapi/pets.json', '"get"', '"put"');
    expect(await listRules('openapi/pets.json')).toEqual([
      ['operation-removed', 'HEAD:openapi/pets.json:1'],
      ['operation-added', 'openapi/pets.json:1'],
    ]);
  });

  test('is compared if it has webhooks only', async () => {
    const noted = { post: { responses: { 204: { description: 'Done.' } } } };
    await write('openapi/pets.json', JSON.stringify({ openapi: '3.1.0', webhooks: { noted } }));
    await commit();
    await edit('openapi/pets.json', 'noted', 'listed');
    expect(await listRules('openapi/pets.json')).toEqual([
      ['webhook-removed', 'HEAD:openapi/pets.json:1'],
      ['webhook-added', 'openapi/pets.json:1'],
    ]);
  });

  test('is compared with the files that it refers to', async () => {
    const files = ['openapi/pets.yaml', 'openapi/paths/pets.yaml', 'openapi/schemas/pet.yaml'];
    await write('openapi/pets.yaml', 'openapi: 3.0.3\npaths:\n  /pets: { $ref: paths/pets.yaml }\n');
    await write(
      'openapi/paths/pets.yaml',
      `get:
  operationId: listPets
  parameters:
    - { name: limit, in: query, schema: { type: integer } }
  responses:
    '200': { description: Pets., content: { application/json: { schema: { $ref: ../schemas/pet.yaml } } } }
`,
    );
    await write('openapi/schemas/pet.yaml', 'type: object\nproperties:\n  name: { type: string }\n');
    await commit();
    await edit('openapi/paths/pets.yaml', 'name: limit,', 'name: limit, required: true,');
    await edit('openapi/schemas/pet.yaml', 'type: string', 'type: string, nullable: true');
    expect(await listRules(...files)).toEqual([
      ['parameter-became-required', 'openapi/paths/pets.yaml:4'],
      ['response-type-widened', 'openapi/schemas/pet.yaml:3'],
    ]);
  });
});

test('a project in a folder of the repository is compared with that folder', async () => {
  const app = path.join(root, 'app');
  await mkdir(app);
  for (const name of ['openapi', 'schema', 'src']) await rename(path.join(root, name), path.join(app, name));
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Move');
  await edit(`app/${NOTES_FILE}`, 'maximum: 50', 'maximum: 40');
  const changes = await compareWithRef(app, CONFIG, 'HEAD');
  expect(changes.map(({ rule, location }) => [rule, location.file])).toEqual([['request-bound-tightened', NOTES_FILE]]);
});

test('a new contract has no breaking change, and a deleted one lacks its operations', async () => {
  const documents = ['openapi/added.yaml', COMMON_FILE];
  const config = {
    generates: { ...CONFIG.generates, 'src/generated/added/': { schema: [], watchPattern: documents } },
  };
  await write('openapi/added.yaml', NOTES);
  const rules = async () => new Set((await compareWithRef(root, config, 'HEAD')).map(({ rule }) => rule));
  expect(await rules()).toEqual(new Set(['operation-added']));
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Add');
  await rm(path.join(root, 'openapi/added.yaml'));
  expect(await rules()).toEqual(new Set(['operation-removed']));
});

test('safe changes are counted, listed with --all, and pass', async () => {
  await edit(NOTES_FILE, 'maximum: 50', 'maximum: 60');
  expect(await diff('HEAD')).toBe(0);
  expect(printed).toBe('0 breaking, 0 dangerous and 1 safe changes of the contracts since HEAD.\n');
  expect(await diff('HEAD', '--all')).toBe(0);
  expect(printed).toContain('safe: maximum is 60 instead of 50. [request-bound-loosened]');
});

test('--json prints the changes for programs', async () => {
  await edit(NOTES_FILE, 'maximum: 50', 'maximum: 40');
  expect(await diff('HEAD', '--json')).toBe(1);
  expect(JSON.parse(printed)).toMatchObject({
    ref: 'HEAD',
    changes: [{ severity: 'breaking', operations: ['listNotes'] }],
  });
});

test('--since-release compares with the newest tag, and passes without one', async () => {
  await edit(NOTES_FILE, 'maximum: 50', 'maximum: 40');
  expect(await diff('--since-release')).toBe(0);
  expect(printed).toContain('no tag is named v*');
  printed = '';
  expect(await diff('--since-release', '--json')).toBe(0);
  expect(JSON.parse(printed)).toEqual({ ref: null, changes: [] });
  printed = '';
  await git('tag', 'v1.0.0');
  expect(await diff('--since-release')).toBe(1);
  expect(printed).toContain('since v1.0.0.');
});

test.each([
  ['no ref', [], 'Expected a ref or --since-release; received neither.'],
  ['two refs', ['main', 'HEAD'], 'received "main HEAD"'],
  ['an unknown ref', ['nope'], 'Expected a commit, branch or tag; received "nope".'],
  ['a ref that is an option', ['--', '--output=x'], 'received "--output=x"'],
  ['an unknown flag', ['main', '--fast'], "Unknown option '--fast'"],
])('%s is refused', async (_what, args, message) => {
  expect(await diff(...args)).toBe(2);
  expect(printed).toContain(message);
  printed = '';
  expect(await diff('--json', ...args)).toBe(2);
  expect(JSON.parse(printed)).toEqual({ error: expect.any(String) as string, exit_code: 2 });
});

test.each([
  ['schema/beds/garden.gql', 'size: Int!', 'size: Inn!', 'schema/beds/garden.gql:2:9 Unknown type "Inn".'],
  [NOTES_FILE, 'info:', 'info: [', `${NOTES_FILE}:`],
])('reports errors of %s instead of changes', async (file, part, replacement, message) => {
  await edit(file, part, replacement);
  await expect(diff('main')).resolves.toBe(2);
  expect(printed.startsWith(message)).toBe(true);
  expect(printed).not.toMatch(/removed|breaking/u);
});
