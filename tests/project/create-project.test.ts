import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCodegenConfig } from '@trellis/codegen/targets';
import type { Authenticators } from '@trellis/server/http/credentials';
import { createProject, ProjectError } from 'create-trellis/create-project';
import { product } from '../../src/product.js';
import { defineConfig, isProjectFile } from '../../src/project/project.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'create-'));
});

afterEach(() => rm(folder, { recursive: true }));

const create = (name: string, parts: readonly string[] = []) =>
  createProject(name, { version: '1.0.0', parts, userAgent: '' });

describe('createProject', () => {
  test.each(['My app', "Ada's $HOME `id`", 'plain'])('prints a "cd" that a shell understands, for %s', async (name) => {
    const app = path.join(folder, name);
    const cd = (await create(app)).split('\n').find((line) => line.startsWith('  cd ')) ?? '';
    expect(execFileSync('sh', ['-c', `${cd}; pwd`], { encoding: 'utf8' })).toBe(`${await realpath(app)}\n`);
  });

  test.each([
    ['', ['npm install', 'npm start'], undefined],
    ['npm/11.19.1 node/v20.20.2 linux x64', ['npm install', 'npm start'], undefined],
    ['pnpm/9.15.9 npm/? node/v20.20.2 linux x64', ['pnpm install', 'pnpm start'], 'pnpm-workspace.yaml'],
    ['bun/1.4.5 npm/? node/v26.3.0 linux x64', ['bun install', 'bun run start'], undefined],
    ['yarn/4.18.1 npm/? node/v20.20.2 linux x64', ['yarn install', 'yarn generate', 'yarn start'], '.yarnrc.yml'],
    ['other/1.0.0', ['npm install', 'npm start'], undefined],
  ])('prints the commands of the package manager "%s"', async (userAgent, commands, settings) => {
    const app = path.join(folder, 'app');
    const text = await createProject(app, { version: '1.0.0', parts: [], userAgent });
    expect(text.split('\n').slice(3, -1)).toEqual(commands.map((command) => `  ${command}`));
    expect((await readdir(app)).find((name) => /\.ya?ml$/u.test(name))).toBe(settings);
  });

  test.each([
    ['My app', 'my-app'],
    ['my café', 'my-cafe'],
    ['日本', 'app'],
  ])('makes the name of the package from that of the folder "%s"', async (name, expected) => {
    const app = path.join(folder, name);
    await create(app);
    expect(await readFile(path.join(app, 'package.json'), 'utf8')).toContain(`"name": "${expected}"`);
  });

  test.each([[[], ['@types/node', 'jiti', 'typescript']] as const, [['site'], ['graphql']] as const])(
    'lists all packages that the project names, as pnpm requires, with %j',
    async (parts, used) => {
      const app = path.join(folder, 'app');
      await create(app, parts);
      const files = (await readdir(app, { recursive: true })).filter((file) => file.endsWith('.ts'));
      const texts = await Promise.all(files.map((file) => readFile(path.join(app, file), 'utf8')));
      const imported = texts.flatMap((text) => Array.from(text.matchAll(/ from '([^']+)'/gu), ([, name = '']) => name));
      const packages = imported
        .filter((name) => !/^(?:\.|node:)/u.test(name))
        .map((name) => /^(?:@[^/]+\/)?[^/]+/u.exec(name)?.[0]);
      const { dependencies, devDependencies } = JSON.parse(await readFile(path.join(app, 'package.json'), 'utf8')) as {
        readonly dependencies: object;
        readonly devDependencies: object;
      };
      expect(Object.keys({ ...dependencies, ...devDependencies })).toEqual(
        expect.arrayContaining([...packages, ...used]),
      );
      expect(Object.values(devDependencies)).not.toContain(undefined);
    },
  );

  test('denies all install scripts of its packages, and no others', async () => {
    const app = path.join(folder, 'app');
    await createProject(app, { version: '1.0.0', parts: ['site'], userAgent: 'pnpm/12.21.0 npm/? node/v20.20.2' });
    const { allowScripts } = JSON.parse(await readFile(path.join(app, 'package.json'), 'utf8')) as {
      readonly allowScripts: Readonly<Record<string, boolean>>;
    };
    const lines = Object.keys(allowScripts).map((name) => `  '${name}': false\n`);
    const settings = await readFile(path.join(app, 'pnpm-workspace.yaml'), 'utf8');
    expect(settings).toBe(`allowBuilds:\n${lines.join('')}`);
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean; readonly dev?: boolean }>>;
    };
    const withScript = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript === true && !entry.dev);
    expect(withScript.map(([name]) => [name.replace(/^.*node_modules\//u, ''), false])).toEqual(
      Object.entries(allowScripts),
    );
  });

  test('adds a section about its site to the README', async () => {
    const app = path.join(folder, 'app');
    await create(app, ['site']);
    expect(await readFile(path.join(app, 'README.md'), 'utf8')).toMatch(/[^\n]\n\n## The site\n/u);
  });

  test('names a file that is in the place of the folder, or of one above it', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, 'text');
    const error = (name: string, code: string) =>
      new ProjectError(`The folder "${name}" cannot be written to: ${code}. Name a different folder.`);
    await expect(create(file)).rejects.toEqual(error(file, 'EEXIST'));
    await expect(create(path.join(file, 'app'))).rejects.toEqual(error(path.join(file, 'app'), 'ENOTDIR'));
    await expect(create('')).rejects.toEqual(error('', 'ENOENT'));
  });

  test('writes nothing to a folder with files, or for an unknown part', async () => {
    await writeFile(path.join(folder, 'file'), 'text');
    await expect(create(folder)).rejects.toEqual(new ProjectError(`${folder} has files. Name a new folder.`));
    const app = path.join(folder, 'app');
    await expect(create(app, ['blog'])).rejects.toEqual(
      new ProjectError('Expected one of accounts, dashboard, secrets, site; received "blog".'),
    );
    await expect(readFile(path.join(app, 'package.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test.each(['dashboard', 'secrets'])(
  'a service of a project cannot have the name "%s", which turns on pages',
  (name) => {
    const own = { operations: () => Promise.reject(new Error()), handlers: () => ({}) };
    const message = `The service name "${name}" belongs to a service of Trellis. Choose a different name.`;
    expect(() => defineConfig({ services: { [name]: own } })).toThrow(message);
    expect(defineConfig(product).services).toBe(product.services);
  },
);

test('a service may have a function for each security scheme, which identifies its callers', () => {
  const schemes = { apiKey: { caller: 'apiKey', type: 'apiKey', in: 'header', name: 'X-Key' } } as const;
  const authenticators: Authenticators<typeof schemes> = { apiKey: async (id) => ({ id }) };
  const own = { operations: () => Promise.reject(new Error()), handlers: () => ({}) };
  const { services } = defineConfig({ services: { notes: { ...own, authenticate: () => authenticators } } });
  expect(Object.keys(services)).toEqual(['notes']);
});

test('a project may have a site only', () => {
  const site = {
    folder: 'content',
    records: () => Promise.resolve({ records: {} }),
    resolvers: () => Promise.resolve({ resolvers: {} }),
  };
  const project = defineConfig({ site });
  expect(isProjectFile(project)).toBe(true);
  const targets = Object.keys(createCodegenConfig(project).generates);
  expect(targets).toEqual(['src/generated/site/', 'src/generated/queries/']);
  expect(Object.keys(createCodegenConfig({ site: {} }).generates)).toEqual(targets);
});
