// @ts-check
/**
 * Installs programs that a single check needs, when it runs for the first time or their lockfile changed.
 *
 * Usage: node tools/install.js <folder>…, such as tools/knip
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL, URL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Installs the packages of a folder unless they are installed already. Waits for another process that does so.
 *
 * @param {string} folder relative to the repository
 * @throws {Error} with a hint, because a check without its program must not look complete.
 */
export function installTool(folder) {
  if (isInstalled(folder)) return;
  const unlock = lock(folder);
  try {
    if (!isInstalled(folder)) install(folder);
  } finally {
    unlock();
  }
}

/** @param {string} folder */
function install(folder) {
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

/**
 * Waits until no other process installs the packages of a folder.
 *
 * @param {string} folder
 */
function lock(folder) {
  const file = `${root}.cache/install-${folder.replaceAll('/', '-')}.lock`;
  mkdirSync(path.dirname(file), { recursive: true });
  const unlock = () => rmSync(file, { force: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return unlock;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    if (isAbandoned(file)) unlock();
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
}

/** The interval in which a process looks whether another one has installed the packages. */
const WAIT_MS = 100;

/**
 * Returns whether the process that created a lock has ended.
 *
 * @param {string} file
 */
function isAbandoned(file) {
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    // It is empty until the process has written its number.
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** @param {string} folder */
function isInstalled(folder) {
  const [locked, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    statSync(`${root}${folder}/${file}`, { throwIfNoEntry: false }),
  );
  return locked !== undefined && installed !== undefined && installed.mtimeMs >= locked.mtimeMs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const folder of process.argv.slice(2)) installTool(folder);
