import { spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { buildPages } from './build-pages.js';
import { addThirdParty } from './third-party.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** The compiler writes it beside its output, so that it is built again after the output was deleted. */
const COMPILER_STATE = '.tsbuildinfo';

/** A folder of sources, and the folder that it is compiled to. */
interface Project {
  readonly sources: string;
  readonly output: string;
}

/** Builds what `npm start` needs, where it changed: the packages, the application and the pages. */
async function build(): Promise<number> {
  const projects = await listProjects();
  for (const project of projects) await removeStale(project);
  const exitCode = compile();
  for (const project of projects) await copyAssets(project);
  await cp('schema', 'packages/create-trellis/dist/schema', { recursive: true });
  await copyFile('dev/package.json', 'packages/create-trellis/dist/dev.json');
  // Errors of `generate` name it.
  await copyFile('docs/contracts.md', 'packages/codegen/dist/contracts.md');
  if (exitCode !== 0) return exitCode;
  await addThirdParty();
  await chmod('dist/cli.js', 0o755);
  await buildPages();
  return 0;
}

async function listProjects(): Promise<Project[]> {
  const packages = (await readdir('packages')).map((name) => `packages/${name}`);
  return [
    ...packages.map((folder) => ({ sources: `${folder}/src`, output: `${folder}/dist` })),
    { sources: 'src', output: 'dist' },
  ];
}

/** Runs the native compiler, which compiles only projects that changed, in a fifth of the time of `typescript`. */
function compile(): number {
  const compiler = 'node_modules/typescript7/bin/tsc';
  const { status, error } = spawnSync(process.execPath, [compiler, '-b', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

/** Deletes files of earlier builds that have no source. Third-party files are written again. */
async function removeStale({ sources, output }: Project): Promise<void> {
  const expected = new Set([COMPILER_STATE, ...(await listFiles(sources)).flatMap(outputsOf)]);
  for (const file of await listFiles(output)) if (!expected.has(file)) await rm(path.join(output, file));
}

async function copyAssets({ sources, output }: Project): Promise<void> {
  for (const file of (await listFiles(sources)).filter(isAsset)) {
    await mkdir(path.dirname(path.join(output, file)), { recursive: true });
    if (isValidators(file)) await writeShort(path.join(sources, file), path.join(output, file));
    else await copyFile(path.join(sources, file), path.join(output, file));
  }
}

/** Whether a file has the generated validators of a service, the largest part of an installation. */
const isValidators = (file: string): boolean => /^generated\/[^/]+\/validators\.js$/u.test(file);

async function writeShort(from: string, to: string): Promise<void> {
  const { code } = await transform(await readFile(from, 'utf8'), {
    format: 'esm',
    minifyIdentifiers: true,
    minifyWhitespace: true,
  });
  await writeFile(to, code);
}

/** Whether a file is used as it is. Declarations and settings are for the compiler only. */
function isAsset(file: string): boolean {
  return !/\.ts$|tsconfig\.json$/u.test(file);
}

/** Returns the files that a source is compiled to. */
function outputsOf(file: string): string[] {
  if (isAsset(file)) return [file];
  const name = file.replace(/\.ts$/u, '');
  return ['.js', '.js.map', '.d.ts'].map((extension) => name + extension);
}

/** Returns the files below a folder without those of other builds; [] without folder. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((file) => !isBuiltElsewhere(path.posix.join(folder, file)));
}

/** Whether a file is a source or an output of the pages, or of the third-party packages, which have builds of their own. */
function isBuiltElsewhere(file: string): boolean {
  return /^(?:src\/web\/app|dist\/pages|packages\/server\/dist\/pages\/vendor|dist\/commands\/secrets\/parts|(?:packages\/[^/]+\/)?dist\/licenses)\//u.test(
    file,
  );
}

process.exitCode = await build();
