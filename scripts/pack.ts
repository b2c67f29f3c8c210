/**
 * Packs everything that is published, as `npm publish` would: `npm run pack [folder]`, by default `.cache/packages`.
 * Needs the output of `npm run build` and `npm run build:client`.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** Lists the folders of the published packages, from the root of the repository. */
export async function listPublished(): Promise<string[]> {
  const packages = await readdir(path.join(root, 'packages'));
  return [...packages.sort().map((name) => `packages/${name}`), 'client', 'dev', '.'];
}

/** Packs the packages into a folder. @returns the path of each archive by the name of its package. */
export async function packAll(destination: string): Promise<ReadonlyMap<string, string>> {
  for (const needed of ['dist/cli.js', 'packages/codegen/dist'])
    if (!existsSync(path.join(root, needed))) throw new Error(`There is no ${needed}. Run "npm run build" first.`);
  const archives = new Map<string, string>();
  const folders = await listPublished();
  for (const folder of folders.filter((name) => name !== '.'))
    await copyFile(path.join(root, 'LICENSE'), path.join(root, folder, 'LICENSE'));
  // The archives of "@trellis/client" and "trellis-client" have the same name.
  for (const together of [folders.filter((folder) => folder !== 'client'), ['client']]) {
    const target = path.join(destination, together.length === 1 ? 'trellis-client' : 'packages');
    await mkdir(target, { recursive: true });
    const named = together.map((folder) => `./${folder}`);
    const args = ['pack', ...named, '--json', '--ignore-scripts', '--pack-destination', target];
    const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 64 * 1024 ** 2 });
    const packed = JSON.parse(stdout.slice(stdout.indexOf('['))) as readonly { name: string; filename: string }[];
    for (const { name, filename } of packed) archives.set(name, path.join(target, filename));
  }
  return archives;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const destination = path.resolve(process.argv[2] ?? path.join(root, '.cache/packages'));
  await rm(destination, { recursive: true, force: true });
  for (const archive of (await packAll(destination)).values()) console.log(archive);
}
