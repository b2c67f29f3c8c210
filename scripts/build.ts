import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestTexts, findText, listFiles, readFolder, removeFiles, writeFiles } from '../src/codegen/files.js';
import { buildPages } from './build-pages.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Digests of the inputs and outputs of the latest successful build. */
const STAMP = '.cache/build.json';
const COMPILER_STATE = '.cache/build.tsbuildinfo';
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'scripts/build.ts'];

process.exitCode = await build();
if (process.exitCode === 0) await buildPages();

/** Compiles `src` to `dist`; returns the compiler's exit code. */
async function build(): Promise<number> {
  const inputs = await digestInputs();
  const last = JSON.parse((await findText(STAMP)) ?? '{}') as { inputs?: string; outputs?: string };
  const isUntouched = last.outputs === (await digestOutputs());
  if (isUntouched && last.inputs === inputs) return 0;

  process.stderr.write('Building the server…\n');
  // The compiler's build info doesn't record files that were deleted from dist.
  if (!isUntouched) await rm(COMPILER_STATE, { force: true });
  await removeStale();
  const exitCode = compile();
  await copyAssets();
  await makeExecutable('dist/cli.js');
  if (exitCode === 0) await writeStamp(inputs);
  return exitCode;
}

async function digestInputs(): Promise<string> {
  const settings = await Promise.all(SETTINGS.map(async (file) => [file, (await findText(file)) ?? ''] as const));
  return digestTexts([...settings, ...[...(await readFolder('src'))].filter(([file]) => !isOfPages(file))]);
}

async function digestOutputs(): Promise<string> {
  return digestTexts([...(await readFolder('dist'))].filter(([file]) => !isOfPages(file)));
}

/** Deletes files of `dist` that have no source. */
async function removeStale(): Promise<void> {
  const sources = await listFiles('src');
  const compiled = sources.filter((file) => isCompiled(file) && !isOfPages(file)).flatMap(compiledNames);
  const expected = new Set([...compiled, ...sources.filter(isAsset)]);
  await removeFiles(
    'dist',
    (await listFiles('dist')).filter((file) => !expected.has(file) && !isOfPages(file)),
  );
}

/** Runs the native compiler, which produces the same output as `typescript` in a fifth of the time. */
function compile(): number {
  const compiler = 'node_modules/typescript7/bin/tsc';
  const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

async function copyAssets(): Promise<void> {
  for (const file of (await listFiles('src')).filter(isAsset)) {
    await mkdir(path.dirname(path.join('dist', file)), { recursive: true });
    await copyFile(path.join('src', file), path.join('dist', file));
  }
}

async function makeExecutable(file: string): Promise<void> {
  if ((await findText(file)) !== undefined) await chmod(file, 0o755);
}

async function writeStamp(inputs: string): Promise<void> {
  await writeFiles('.', new Map([[STAMP, JSON.stringify({ inputs, outputs: await digestOutputs() })]]));
}

/** The inputs and outputs of `build-pages`. */
function isOfPages(file: string): boolean {
  return file.startsWith('web/app/') || file.startsWith('pages/');
}

/** Files that the server reads: stylesheets, scripts of pages, contracts. Declarations are for the compiler only. */
function isAsset(file: string): boolean {
  return !/\.ts$|(^|\/)tsconfig\.json$/u.test(file) && !isOfPages(file);
}

function isCompiled(file: string): boolean {
  return file.endsWith('.ts') && !file.endsWith('.d.ts');
}

function compiledNames(file: string): string[] {
  const name = file.replace(/\.ts$/u, '.js');
  return [name, `${name}.map`];
}
