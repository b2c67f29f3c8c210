import { spawnSync } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Builds the client package: JavaScript and types of its modules, without files of earlier builds. */
await rm('client/dist', { recursive: true, force: true });
await copyFile('LICENSE', 'client/LICENSE');
const compiler = 'node_modules/typescript7/bin/tsc';
const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'client'], { stdio: 'inherit' });
if (error) throw error;
process.exitCode = status ?? 1;
