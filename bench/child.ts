import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '..');

/** Brings `dist` up to date: what is measured is what is shipped. */
export function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
}

/** Runs a script of this folder in a process of its own and gives the JSON that it prints. */
export async function runChild<T>(script: string, args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, script), ...args]);
  return JSON.parse(stdout) as T;
}
