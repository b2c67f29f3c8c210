/**
 * Packs the command line of the secrets service as one file that needs no Node: `npm run pack:executable [folder]`, by
 * default `.cache/secrets`. The file contains the Node that runs this script, for its platform.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** The place of the program in Node's executable, see https://nodejs.org/api/single-executable-applications.html. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes the executable `trellis-secrets`. @returns its path. */
export async function packExecutable(destination: string): Promise<string> {
  const work = await mkdtemp(path.join(tmpdir(), 'trellis-executable-'));
  try {
    const blob = await makeBlob(work);
    await mkdir(destination, { recursive: true });
    const file = path.join(destination, process.platform === 'win32' ? 'trellis-secrets.exe' : 'trellis-secrets');
    await rm(file, { force: true });
    await copyFile(process.execPath, file);
    await chmod(file, 0o755);
    const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
    const postject = path.join(root, 'tools/postject/node_modules/postject/dist/cli.js');
    await run(process.execPath, [postject, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...segment]);
    // A changed file has a wrong signature, which macOS refuses.
    if (process.platform === 'darwin') await run('codesign', ['--sign', '-', '--force', file]);
    return file;
  } finally {
    await rm(work, { recursive: true });
  }
}

/** Bundles the program with the code that V8 has compiled. */
async function makeBlob(work: string): Promise<string> {
  const place = (name: string): string => path.join(work, name);
  const [main, output, config] = [place('main.cjs'), place('main.blob'), place('sea.json')];
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  await build({
    stdin: { contents: entry(version), resolveDir: root, loader: 'ts' },
    outfile: main,
    ...{ bundle: true, platform: 'node', target: 'node20', format: 'cjs', minify: true, keepNames: true },
    ...{ conditions: ['trellis-source'], logLevel: 'warning' },
    // A single executable has no `import()`.
    supported: { 'dynamic-import': false },
    // Names the package of the release, which the main module passes instead.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const settings = { main, output, useCodeCache: true, disableExperimentalSEAWarning: true };
  await writeFile(config, JSON.stringify(settings));
  await run(process.execPath, ['--experimental-sea-config', config]);
  return output;
}

/** Returns the main module, which has the commands of the package `trellis-secrets`. */
const entry = (version: string): string => `
import { runSecretsProgram } from './src/commands/secrets/program.ts';
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(1);
});
const [, , first = ''] = process.argv;
if (['--version', '-V'].includes(first)) process.stdout.write(${JSON.stringify(`${version}\n`)});
else if (['secrets', 'completion', 'complete', 'login', 'logout', 'whoami'].includes(first)) void runSecretsProgram(${JSON.stringify(version)});
else {
  process.stderr.write('trellis: this program has "trellis secrets" only; see "trellis secrets --help"\\n');
  process.exitCode = 2;
}
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = await packExecutable(path.resolve(process.argv[2] ?? path.join(root, '.cache/secrets')));
  console.log(`${file}, ${((await stat(file)).size / 1e6).toFixed(0)} MB`);
}
