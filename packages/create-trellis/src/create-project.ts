import { constants, existsSync } from 'node:fs';
import { access, appendFile, cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The services that a project can have beside its own. */
const PARTS = ['accounts', 'dashboard', 'secrets', 'site'] as const;
type Part = (typeof PARTS)[number];

export interface NewProject {
  /** The version of the packages of Trellis. */
  readonly version: string;
  readonly parts: readonly string[];
  /** The package manager that runs this program, such as `yarn/4.18.1 node/v24.0.0`, as all of them set it. */
  readonly userAgent: string;
}

/** The commands that install the packages of a project and start it, by package manager. */
const NEXT_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  npm: ['npm install', 'npm start'],
  pnpm: ['pnpm install', 'pnpm start'],
  // Yarn does not run the script `prestart`.
  yarn: ['yarn install', 'yarn generate', 'yarn start'],
  bun: ['bun install', 'bun run start'],
};

/**
 * A package whose install script builds what the package already contains. Package managers warn of a script that a
 * project neither allows nor denies; pnpm fails.
 */
const UNUSED_SCRIPT = '@photostructure/sqlite';

/** The settings of a project that a package manager reads from a file of its own, as the name and text of the file. */
const SETTINGS: Readonly<Record<string, readonly [file: string, text: string]>> = {
  pnpm: ['pnpm-workspace.yaml', `allowBuilds:\n  '${UNUSED_SCRIPT}': false\n`],
  // Yarn's own way of loading packages lacks functions of Node that the server uses.
  yarn: ['.yarnrc.yml', 'nodeLinker: node-modules\n'],
};

/** A mistake of the user, as one line. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError';
}

const TEMPLATE = fileURLToPath(new URL('../template/', import.meta.url));

/** The additional files of a project with a site. Its README is added to that of the project. */
const SITE_TEMPLATE = fileURLToPath(new URL('../template-site/', import.meta.url));

/** The documents of the kinds that every site has: in the package, or in a checkout. */
const SCHEMA_FOLDERS = ['./schema/', '../../../schema/'].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);

/** The manifest of `@trellis/dev`, whose versions a project has: in the package, or in a checkout. */
const DEV_MANIFESTS = ['./dev.json', '../../../dev/package.json'].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
);

/** A kind of the example site. */
const EXAMPLE_KIND = 'recipe.graphql';

/** npm leaves out files with these names when it packs the template. */
const RENAMED = ['.gitignore', '.gitattributes'];

/**
 * Writes a project into a folder, which is created if it does not exist.
 *
 * @returns what to do next.
 * @throws ProjectError if the folder has files or cannot be written to, or a part is unknown.
 */
export async function createProject(folder: string, { version, parts, userAgent }: NewProject): Promise<string> {
  const unknown = parts.find((part) => !PARTS.includes(part as Part));
  if (unknown !== undefined) throw new ProjectError(`Expected one of ${PARTS.join(', ')}; received "${unknown}".`);
  const found = await makeFolder(folder);
  if (found.length > 0) throw new ProjectError(`${folder} has files. Name a new folder.`);
  await cp(TEMPLATE, folder, { recursive: true });
  for (const name of RENAMED) await rename(path.join(folder, name.slice(1)), path.join(folder, name));
  if (parts.includes('site')) await addSite(folder);
  const name = toPackageName(path.basename(path.resolve(folder)));
  const manifest = toManifest(name, { version, parts }, await readDevDependencies());
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(path.join(folder, 'trellis.config.ts'), toConfig(parts));
  const [manager = ''] = userAgent.split('/');
  const settings = SETTINGS[manager];
  if (settings !== undefined) await writeFile(path.join(folder, settings[0]), settings[1]);
  const commands = [`cd ${quote(folder)}`, ...(NEXT_COMMANDS[manager] ?? NEXT_COMMANDS.npm ?? [])];
  return [`Wrote ${folder}. Next:`, '', ...commands.map((command) => `  ${command}`), ''].join('\n');
}

/** Creates a folder unless it exists. Returns the names of its files. */
async function makeFolder(folder: string): Promise<readonly string[]> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return await readdir(folder);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new ProjectError(`The folder "${folder}" cannot be written to: ${reason}. Name a different folder.`);
  }
}

/** Returns a path as an argument of a shell. Between single quotes, POSIX shells leave all else as it is. */
function quote(text: string): string {
  if (/^[\w./\\:~-]+$/u.test(text)) return text;
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

async function addSite(folder: string): Promise<void> {
  const schema = SCHEMA_FOLDERS.find((one) => existsSync(one)) ?? '';
  await cp(schema, path.join(folder, 'schema'), {
    recursive: true,
    filter: (file) => path.basename(file) !== EXAMPLE_KIND,
  });
  const readme = path.join(SITE_TEMPLATE, 'README.md');
  await cp(SITE_TEMPLATE, folder, { recursive: true, filter: (file) => file !== readme });
  await appendFile(path.join(folder, 'README.md'), `\n${await readFile(readme, 'utf8')}`);
}

/** Replaces what a name of a package can't contain. Letters lose their accents. */
const toPackageName = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/gu, '-')
    .replaceAll(/^-+|-+$/gu, '') || 'app';

async function readDevDependencies(): Promise<Readonly<Record<string, string>>> {
  const file = DEV_MANIFESTS.find((one) => existsSync(one)) ?? '';
  const { dependencies } = JSON.parse(await readFile(file, 'utf8')) as { dependencies: Record<string, string> };
  return dependencies;
}

/**
 * Returns the manifest of a project. It has the packages that files and scripts of the project name, as pnpm offers no others.
 *
 * @param dev The versions of `@trellis/dev`.
 */
const toManifest = (
  name: string,
  { version, parts }: Omit<NewProject, 'userAgent'>,
  dev: Readonly<Record<string, string>>,
): object => ({
  name,
  version: '0.0.0',
  private: true,
  type: 'module',
  engines: { node: '>=20.19' },
  scripts: {
    generate: 'trellis generate',
    prestart: 'trellis generate',
    start: 'trellis serve',
    dev: 'trellis dev',
    typecheck: 'tsc',
    pretest: 'trellis generate && tsc',
    test: 'jiti tests/run.ts',
  },
  dependencies: {
    '@trellis/client': version,
    '@trellis/core': version,
    '@trellis/server': version,
    ...(parts.includes('site') && { '@trellis/site': version }),
    trellis: version,
  },
  devDependencies: {
    '@trellis/codegen': version,
    '@trellis/dev': version,
    '@types/node': dev['@types/node'],
    ...(parts.includes('site') && { graphql: dev.graphql }),
    jiti: dev.jiti,
    typescript: dev.typescript,
  },
  allowScripts: { [UNUSED_SCRIPT]: false },
});

const SITE_ENTRY = `  site: {
    folder: 'content',
    records: () => import('./src/generated/site/records.js'),
    resolvers: () => import('./src/resolvers/schema.js'),
  },
`;

/** Writes `trellis.config.ts`, with the services of Trellis that are switched on. */
function toConfig(parts: readonly string[]): string {
  const ready = ['dashboard', 'secrets'].filter((part) => parts.includes(part));
  const imports = ready.length === 0 ? '' : `import { ${ready.join(', ')} } from 'trellis/services';\n`;
  const accounts = parts.includes('accounts') ? '  accounts: true,\n' : '';
  const site = parts.includes('site') ? SITE_ENTRY : '';
  return `import { defineConfig } from 'trellis/config';
${imports}
export default defineConfig({
${accounts}${site}  services: {
    greetings: {
      strict: true,
      documents: ['openapi/common.yaml'],
      operations: () => import('./src/generated/greetings/operations.js'),
      handlers: async (context) =>
        (await import('./src/handlers/greetings/handlers.js')).greetingsHandlers(context),
    },
${ready.map((part) => `    ${part},\n`).join('')}  },
});
`;
}
