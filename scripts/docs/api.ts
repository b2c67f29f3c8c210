/**
 * Writes the documentation of the packages' modules from their docstrings: `npm run docs:api [folder]`, by default
 * `.cache/api`.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listPublished } from '../pack.js';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const BIN = 'tools/typedoc/node_modules/.bin';

/** Lists the sources of the modules that a package exports. */
async function listModules(folder: string): Promise<string[]> {
  const { exports } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly 'trellis-source'?: string }>>;
  };
  const sources = Object.values(exports).flatMap(({ 'trellis-source': source }) => source ?? []);
  return sources.map((source) => path.join(folder, source));
}

const modules = (await Promise.all((await listPublished()).map(listModules))).flat();
const output = process.argv[2] ?? '.cache/api';
const { status } = spawnSync(
  `${BIN}/typedoc`,
  [
    ...['--tsconfig', 'tsconfig.json', '--skipErrorChecking', '--name', 'Trellis', '--readme', 'none'],
    ...['--excludePrivate', '--disableSources', '--logLevel', 'Error', '--out', output],
    ...modules,
  ],
  { stdio: 'inherit' },
);
if (status === 0) console.log(`Wrote ${modules.length} modules to ${output}.`);
process.exitCode = status ?? 1;
