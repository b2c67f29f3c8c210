import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { spawnNode } from '../tests/child-process.js';

const ROOT = path.join(import.meta.dirname, '..');

let isBuilt = false;

/** Builds `dist` once per run, as the benchmarks measure the built code. */
export function build(): void {
  if (isBuilt) return;
  isBuilt = true;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
}

/** Runs a script of this folder in a separate process and returns the JSON that it prints. */
export async function runChild<T>(script: string, args: readonly string[]): Promise<T> {
  const child = spawnNode([path.join(import.meta.dirname, script), ...args]);
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [output, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  if (code !== 0) throw new Error(`${script} ended with ${String(code)}:\n${problems}`);
  return JSON.parse(output) as T;
}
