import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Builds the client package, without files of earlier builds, and the package that it depends on, where it changed. */
function build(): number {
  // The compiler does not notice that its output was deleted.
  const again = existsSync('packages/client/dist') ? [] : ['--force'];
  return compile('-b', 'packages/client', ...again) || compile('-p', 'client');
}

function compile(...args: readonly string[]): number {
  const compiler = 'node_modules/typescript7/bin/tsc';
  const { status, error } = spawnSync(process.execPath, [compiler, ...args], { stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

await rm('client/dist', { recursive: true, force: true });
for (const folder of ['client', 'packages/client']) await copyFile('LICENSE', `${folder}/LICENSE`);
process.exitCode = build();
