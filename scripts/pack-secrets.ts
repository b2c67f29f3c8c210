/**
 * Packs the command line of the secrets service alone, without dependencies: `npm run pack:secrets [folder]`, by default
 * `.cache/secrets`. Needs the output of `npm run build`.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listIncluded } from './third-party.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Stands in for the commands that this package lacks. */
const OTHER_COMMANDS = `export function runWholeProgram() {
  process.stderr.write('trellis: this package has "trellis secrets" only; see "trellis secrets --help"\\n');
  process.exitCode = 2;
}
`;

/** Packs the package `trellis-secrets`. @returns the path of the archive. */
export async function packSecrets(destination: string): Promise<string> {
  const folder = path.join(destination, 'trellis-secrets');
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, 'dist/commands/secrets'), { recursive: true });
  for (const name of ['cli.js', 'commands/secrets/program.js', 'commands/secrets/parts']) {
    await cp(path.join(root, 'dist', name), path.join(folder, 'dist', name), { recursive: true });
  }
  await writeFile(path.join(folder, 'dist/program.js'), OTHER_COMMANDS);
  await copyLicences(folder);
  await writeFile(path.join(folder, 'package.json'), await describePackage());
  const args = ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', destination];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  return path.join(destination, filename);
}

/** Copies our licence, and those of all code in the bundle. */
async function copyLicences(folder: string): Promise<void> {
  await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  const sources = { 'commands/secrets/program': 'dist', 'mcp/sdk': 'packages/server/dist' };
  for (const [module, source] of Object.entries(sources)) {
    for (const name of listIncluded(module)) {
      const [from, to] = [path.join(root, source), path.join(folder, 'dist')].map((each) =>
        path.join(each, 'licenses', name),
      );
      await cp(from ?? '', to ?? '', { recursive: true });
    }
  }
}

async function describePackage(): Promise<string> {
  const { version, license, engines, type } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  ) as Record<string, unknown>;
  const description = 'The command line of the secrets service of Trellis.';
  const bin = { trellis: 'dist/cli.js' };
  return JSON.stringify({ name: 'trellis-secrets', version, description, license, type, engines, bin }, undefined, 2);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const destination = path.resolve(process.argv[2] ?? path.join(root, '.cache/secrets'));
  console.log(await packSecrets(destination));
}
