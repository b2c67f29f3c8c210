// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** In a checkout, `npm start` builds first. A production install has no compiler, and starts what was built elsewhere. */
const root = fileURLToPath(new URL('..', import.meta.url));
const canBuild = existsSync(`${root}node_modules/typescript7`) && existsSync(`${root}node_modules/tsx`);
if (canBuild) {
  const command = ['--conditions=trellis-source', '--import', 'tsx', 'scripts/build.ts'];
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else if (!existsSync(`${root}dist/cli.js`)) {
  process.stderr.write(
    'There is no build here. Run "npm ci && npm run build" in a checkout, and copy "dist" and "packages/*/dist".\n',
  );
  process.exitCode = 1;
}
