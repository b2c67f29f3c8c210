import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** `npm ci --prefix tools/bun` installs Bun in a platform package. Its install script, if it may run, moves the binary. */
const BUN_PATHS = [
  `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}/bin/bun`,
  'bun/bin/bun.exe',
].map((path) => `tools/bun/node_modules/${path}`);

export interface Runtime {
  /** The name and version. */
  readonly name: string;
  readonly command: string;
}

/** Returns the path of Bun; `undefined` when npm has not installed it. */
export function findBun(): string | undefined {
  return BUN_PATHS.find((path) => existsSync(path));
}

/**
 * Returns the current Node, Bun and the comma-separated commands of `TRELLIS_RUNTIMES`. Prints a warning when Bun is
 * not installed.
 */
export function findRuntimes(): Runtime[] {
  const bun = findBun();
  if (bun === undefined) {
    process.stderr.write('\n*** SKIPPED: the client tests in Bun need Bun: npm ci --prefix tools/bun ***\n\n');
  }
  const others = (process.env.TRELLIS_RUNTIMES ?? '').split(',').filter((command) => command !== '');
  return [process.execPath, ...(bun === undefined ? [] : [bun]), ...others].map(toRuntime);
}

/** @throws Error when the command doesn't exist. */
function toRuntime(command: string): Runtime {
  const { stdout, error } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  if (error) throw error;
  const version = stdout.trim();
  return { name: version.startsWith('v') ? `Node ${version.slice(1)}` : `Bun ${version}`, command };
}
