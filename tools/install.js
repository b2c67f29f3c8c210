// @ts-check
/**
 * Installs programs that a single check needs, when it runs for the first time or their lockfile changed.
 *
 * Usage: node tools/install.js <folder>…, such as tools/knip
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath, pathToFileURL, URL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Installs the packages of a folder unless they are installed already.
 *
 * @param {string} folder relative to the repository
 * @throws {Error} with a hint, because a check without its program must not look complete.
 */
export function installTool(folder) {
  if (isInstalled(folder)) return;
  process.stderr.write(`Installing the packages of ${folder}, once…\n`);
  const { status } = spawnSync('npm', ['ci', '--silent', '--no-audit', '--no-fund'], {
    cwd: root + folder,
    stdio: 'inherit',
    // npm is a script with a different name on Windows.
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  throw new Error(`The packages of ${folder} could not be installed. Try "npm ci --prefix ${folder}".`);
}

/**
 * Installs the packages of a folder and imports one of them.
 *
 * @param {string} folder
 * @param {string} name
 * @returns {Promise<any>} the module
 */
export async function importFromTool(folder, name) {
  installTool(folder);
  const { resolve } = createRequire(`${root}${folder}/package.json`);
  return import(pathToFileURL(resolve(name)).href);
}

/** @param {string} folder */
function isInstalled(folder) {
  const [locked, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    statSync(`${root}${folder}/${file}`, { throwIfNoEntry: false }),
  );
  return locked !== undefined && installed !== undefined && installed.mtimeMs >= locked.mtimeMs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const folder of process.argv.slice(2)) installTool(folder);
