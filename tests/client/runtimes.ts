import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where npm puts Bun: in a package of its own, from where the install script moves it if it may run. */
const BUN_PATHS = [
  `node_modules/@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}/bin/bun`,
  'node_modules/bun/bin/bun.exe',
];

export interface Runtime {
  /** With its version. */
  readonly name: string;
  readonly command: string;
}

/** The command that runs Bun, if npm has installed it. */
export function findBun(): string | undefined {
  return BUN_PATHS.find((path) => existsSync(path));
}

/** This Node, Bun, and those of `TRELLIS_RUNTIMES` (commands, separated by commas); says loudly when Bun is missing. */
export function findRuntimes(): Runtime[] {
  const bun = findBun();
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
