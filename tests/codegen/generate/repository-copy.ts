import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readGenerated } from '@trellis/codegen/generate/generate';
import { COMMON, NOTES } from '../../../packages/codegen/tests/openapi/example.js';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));
/** The documents, settings and code with queries that tests edit, and the folders that they only read. */
const COPIED = ['codegen.ts', 'scripts', 'schema', 'openapi', 'package.json', 'package-lock.json', 'trellis.config.ts'];
/** The modules that `trellis.config.ts` imports. */
export const IMPORTED = ['src/product.ts', 'src/project', 'src/handlers/uncompressed.ts'];
const QUERIES = 'src/web/app';
const LINKED = ['node_modules', 'packages'];

/** The exit code and output of a process. */
export interface Result {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A copy of the contracts of this repository, without generated files, with its generators. */
export interface RepositoryCopy {
  root: string;
  /** Runs `npm run generate` with its flags. */
  generate(...flags: string[]): Promise<Result>;
  /** Runs `npx graphql-codegen`. */
  graphqlCodegen(): Promise<Result>;
  /** Replaces the text of a file by the result of a change, which receives '' for a file that does not exist. */
  edit(file: string, change: (text: string) => string): Promise<void>;
  /** Path from the root → text, of every file below `src/generated`. */
  generated(): Promise<Map<string, string>>;
  close(): Promise<void>;
}

/** Arguments of node that run `npm run generate`. */
export const generateArguments = (flags: readonly string[]) => [
  '--conditions=trellis-source',
  '--import',
  'tsx',
  'scripts/generate.ts',
  ...flags,
];

/**
 * The contract of each service in a copy with small services. Commands do with it what they do with the whole
 * contracts, in a third of the time.
 */
const SMALL = { 'openapi/common.yaml': COMMON, 'openapi/dashboard.yaml': NOTES, 'openapi/secrets.yaml': NOTES };

/** Copies the repository with small contracts of its services. */
export async function copySmallRepository(): Promise<RepositoryCopy> {
  const copy = await copyRepository();
  for (const [file, text] of Object.entries(SMALL)) await copy.edit(file, () => text);
  return copy;
}

export async function copyRepository(): Promise<RepositoryCopy> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'trellis-copy-'));
  for (const name of [...COPIED, ...IMPORTED, QUERIES])
    await cp(path.join(repository, name), path.join(root, name), { recursive: true });
  for (const name of LINKED) await symlink(path.join(repository, name), path.join(root, name));
  return {
    root,
    generate: (...flags) => runNode(root, generateArguments(flags)),
    graphqlCodegen: () => runNode(root, ['node_modules/.bin/graphql-codegen']),
    edit: async (file, change) => {
      const text = await readFile(path.join(root, file), 'utf8').catch(() => '');
      await writeFile(path.join(root, file), change(text));
    },
    generated: () => readGenerated(root),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

/** Runs Node in a folder. */
export function runNode(cwd: string, args: readonly string[]): Promise<Result> {
  // graphql-codegen prints nothing where NODE_ENV is "test".
  const env = { ...process.env, NODE_ENV: 'development' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
