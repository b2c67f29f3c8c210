/**
 * Checks every published package with publint and with "Are the types wrong?": `npm run check:packages`. Both look at
 * the archive that `npm publish` would upload.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { packAll } from './pack.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const BIN = 'tools/package-checks/node_modules/.bin';

const passes = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(`${BIN}/${program}`, args, { stdio: 'inherit' }).status === 0;

const archives = await packAll('.cache/packages');
const wrong = [...archives].filter(([name, archive]) => {
  console.log(name);
  const hasModules = name !== '@trellis/dev';
  const isPublishable = passes('publint', 'run', archive, '--strict');
  return !isPublishable || (hasModules && !passes('attw', archive, '--profile', 'esm-only', '--quiet'));
});
if (wrong.length > 0) {
  console.error(`Not ready to publish: ${wrong.map(([name]) => name).join(', ')}.`);
  process.exitCode = 1;
}
