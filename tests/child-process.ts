import { spawn, type ChildProcessByStdio, type SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const END_WITH_PARENT = new URL('./end-with-parent.js', import.meta.url).href;

const ROOT = fileURLToPath(new URL('..', import.meta.url));

export type NodeProcess = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Starts Node, in the project's folder by default, in a process that ends when this one ends for any reason. The caller
 * has to read both output pipes; standard input is empty. A child that waits for messages has to call
 * `process.channel.ref()`.
 */
export function spawnNode(
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'gid' | 'uid'> = {},
): NodeProcess {
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, ...args], {
    cwd: ROOT,
    ...options,
    stdio: [...stdio],
  });
  return child as unknown as NodeProcess;
}
