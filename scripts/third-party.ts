/**
 * Packages whose code is part of the build. Production does not install them, and the bill of materials lists them.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';

/** A module of a package that re-exports parts of others, which are bundled in its place. */
interface Bundle {
  /** The folder of our package. */
  readonly folder: string;
  /** The name of the module below `src` and `dist`. */
  readonly module: string;
  /** The packages that esbuild includes. */
  readonly packages: readonly string[];
}

const BUNDLES: readonly Bundle[] = [
  {
    folder: 'packages/server',
    module: 'mcp/sdk',
    packages: [
      ...['@modelcontextprotocol/sdk', 'ajv', 'ajv-formats', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
      ...['zod', 'zod-to-json-schema'],
    ],
  },
  { folder: 'packages/site', module: 'config/parser', packages: ['@babel/parser'] },
  { folder: 'packages/images', module: 'render/potrace-module', packages: ['potrace'] },
];

/** The files that pages load, by package. */
const COPIES: Readonly<Record<string, readonly string[]>> = {
  graphiql: ['graphiql.min.css', 'graphiql.min.js'],
  react: ['umd/react.production.min.js'],
  'react-dom': ['umd/react-dom.production.min.js'],
  'swagger-ui-dist': ['swagger-ui.css', 'swagger-ui-bundle.js'],
};

const COPIES_OWNER = 'packages/server';

/** The names of all packages whose code is part of the build. */
export const INCLUDED_PACKAGES: readonly string[] = [
  ...Object.keys(COPIES),
  ...BUNDLES.flatMap(({ packages }) => packages),
];

/** Adds the code of these packages, and their licences, to what the compiler wrote. */
export async function addThirdParty(): Promise<void> {
  const vendor = path.join(COPIES_OWNER, 'dist/pages/vendor');
  for (const [name, files] of Object.entries(COPIES)) {
    for (const file of files)
      await copyTo(path.join(folderOf(name, COPIES_OWNER), file), path.join(vendor, name, file));
    await copyLicences(name, COPIES_OWNER);
  }
  for (const bundle of BUNDLES) await addBundle(bundle);
}

async function addBundle({ folder, module, packages }: Bundle): Promise<void> {
  const { metafile } = await build({
    entryPoints: [`${folder}/src/${module}.ts`],
    outfile: `${folder}/dist/${module}.js`,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  const found = new Set(
    Object.keys(metafile.inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(file)?.[1] ?? []),
  );
  if ([...found].toSorted().join() !== packages.toSorted().join()) {
    throw new Error(`scripts/third-party.ts must list the packages of ${module}: ${[...found].toSorted().join(', ')}.`);
  }
  for (const name of packages) await copyLicences(name, folder);
}

async function copyLicences(name: string, owner: string): Promise<void> {
  const source = folderOf(name, owner);
  for (const file of (await readdir(source)).filter((file) => /^(?:license|licence|notice)/iu.test(file))) {
    await copyTo(path.join(source, file), path.join(owner, 'dist/licenses', name, file));
  }
}

async function copyTo(source: string, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(source, target);
}

/** Returns the folder of a package that `owner` resolves. */
function folderOf(name: string, owner: string): string {
  const paths = createRequire(path.resolve(owner, 'package.json')).resolve.paths(name) ?? [];
  return paths.map((folder) => path.join(folder, name)).find((folder) => existsSync(folder)) ?? name;
}
