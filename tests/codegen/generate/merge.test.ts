/**
 * Merges two branches of a small project with git. Each adds an operation and a record type, and commits the generated
 * files.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { generate, openProject } from '@trellis/codegen/generate/generate';
import config from '../../../codegen.js';
import { check } from '../../../packages/codegen/src/generate/check.js';
import {
  COMMON,
  COMMON_FILE,
  errorResponses,
  NOTES,
  NOTES_FILE,
} from '../../../packages/codegen/tests/openapi/example.js';
import { documentsWith } from '../../../packages/codegen/tests/site/documents.js';
import { IMPORTED, repository } from './repository-copy.js';

const run = promisify(execFile);

let root: string;
const workingFolder = process.cwd();

beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'trellis-merge-'));
  const settings = ['.gitattributes', 'codegen.ts', 'package.json', 'package-lock.json', 'trellis.config.ts'];
  for (const name of [...settings, 'scripts', ...IMPORTED]) {
    await cp(path.join(repository, name), path.join(root, name), { recursive: true });
  }
  for (const name of ['node_modules', 'packages']) await symlink(path.join(repository, name), path.join(root, name));
  // Presets read documents from the working folder.
  process.chdir(root);
  await write('.gitignore', 'node_modules\npackages\n.cache\n');
  await write(NOTES_FILE, NOTES);
  await write(COMMON_FILE, COMMON);
  await write('openapi/secrets.yaml', NOTES.replace('url: /notes', 'url: /secrets'));
  for (const [file, text] of documentsWith('type Pot implements Node @record { size: Int! }')) await write(file, text);
  await git('init', '--quiet', '--initial-branch', 'main');
  await commit('Start');
  await addOnBranch('boats', { operation: 'archiveNotes', before: '  /notes/import:\n', kind: 'Boat' });
  await addOnBranch('plants', { operation: 'printNotes', before: '  /notes/{id}/picture:\n', kind: 'Plant' });
});
afterAll(() => {
  process.chdir(workingFolder);
  return rm(root, { recursive: true });
});
afterEach(() => git('reset', '--quiet', '--hard'));

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}

const read = (file: string): Promise<string> => readFile(path.join(root, file), 'utf8');

/** Settings of the user who runs the tests have no effect. */
const ENVIRONMENT = {
  ...{ ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org' },
};

/** Runs git and returns what it prints, also when it fails because of conflicts. */
async function git(...args: readonly string[]): Promise<string> {
  try {
    return (await run('git', args, { cwd: root, env: ENVIRONMENT })).stdout;
  } catch (error) {
    if (args[0] === 'merge') return (error as { stdout: string }).stdout;
    throw error;
  }
}

/** Does the same as `npm run generate`, without the time to load the generators again. */
const update = async () => generate(await openProject(root, config));
const listDifferences = async () => check(await openProject(root, config));

async function commit(subject: string): Promise<void> {
  await update();
  await git('add', '--all');
  await git('commit', '--quiet', '--message', subject);
}

interface Addition {
  readonly operation: string;
  /** The path of the contract that the new operation precedes. */
  readonly before: string;
  readonly kind: string;
}

async function addOnBranch(branch: string, { operation, before, kind }: Addition): Promise<void> {
  await git('switch', '--quiet', '--create', branch, 'main');
  const added = `  /notes/${operation}:
    post:
      operationId: ${operation}
      tags: [Notes]
      summary: Change notes
      security: []
      responses:
        '204':
          description: Done.
${errorResponses(400, 429, 500, 503)}`;
  await write(NOTES_FILE, NOTES.replace(before, added + before));
  await write(`schema/${kind.toLowerCase()}.graphql`, `type ${kind} implements Node @record { name: String! }\n`);
  await commit(`Add ${kind}`);
}

const listConflicts = async () => (await git('diff', '--name-only', '--diff-filter=U')).split('\n').filter(Boolean);

/** What the merged contracts generate. */
async function expectMerged(): Promise<void> {
  await update();
  expect(await listDifferences()).toEqual([]);
  const operations = await read('src/generated/dashboard/operations.ts');
  expect(operations).toContain("id: 'archiveNotes'");
  expect(operations).toContain("id: 'printNotes'");
  const records = await read('src/generated/site/records.ts');
  expect(records).toContain('export type BoatRecord = {');
  expect(records).toContain('export type PlantRecord = {');
}

test('with the merge driver, two branches merge without a conflict, and generate completes the merge', async () => {
  await git('config', 'merge.generated.driver', 'true');
  await git('switch', '--quiet', 'boats');
  await git('merge', '--no-commit', 'plants');
  await git('config', '--unset', 'merge.generated.driver');
  expect(await listConflicts()).toEqual([]);
  expect(await listDifferences()).not.toEqual([]);
  await expectMerged();
});

test('without the merge driver, only generated files conflict, and generate resolves them', async () => {
  await git('switch', '--quiet', 'boats');
  await git('merge', '--no-commit', 'plants');
  const conflicts = await listConflicts();
  expect(conflicts).toContain('src/generated/dashboard/revision.ts');
  expect(conflicts.filter((file) => !file.startsWith('src/generated/'))).toEqual([]);
  await expectMerged();
  for (const file of conflicts) expect(await read(file)).not.toMatch(/^(<<<<<<<|=======|>>>>>>>)/m);
});

test('a branch that only changes descriptions leaves the revision and the operation table as they are', async () => {
  await git('switch', '--quiet', '--create', 'prose', 'main');
  const [revision, table] = [await read('src/generated/dashboard/revision.ts'), await readTable()];
  await write(NOTES_FILE, NOTES.replace('summary: List notes', 'summary: List all notes'));
  await update();
  expect(await read('src/generated/dashboard/revision.ts')).toBe(revision);
  expect(await readTable()).toBe(table);
});

const readTable = async () =>
  /const operations[^]*?\n\];/.exec(await read('src/generated/dashboard/operations.ts'))?.[0];
