import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where npm puts Bun: in a package of its own, or in its place when the install script ran. */
const BUN_PATHS = [
  'node_modules/bun/bin/bun.exe',
  `node_modules/@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}/bin/bun`,
];

export interface Runtime {
  /** With its version. */
  readonly name: string;
  readonly command: string;
}

/** This Node, Bun, and those of `TRELLIS_RUNTIMES` (commands, separated by commas); says loudly when Bun is missing. */
export function findRuntimes(): Runtime[] {
  const bun = BUN_PATHS.find((path) => existsSync(path));
  if (bun === undefined) {
    process.stderr.write('\n*** SKIPPED: the client is not run in Bun, which is not installed. ***\n\n');
  }
  const others = (process.env.TRELLIS_RUNTIMES ?? '').split(',').filter((command) => command !== '');
  return [process.execPath, ...(bun === undefined ? [] : [bun]), ...others].map(toRuntime);
}

/** @throws Error when there is no such command. */
function toRuntime(command: string): Runtime {
  const { stdout, error } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  if (error) throw error;
  const version = stdout.trim();
  return { name: version.startsWith('v') ? `Node ${version.slice(1)}` : `Bun ${version}`, command };
}
