import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { describeInBrowser, openBrowser } from '../e2e/support/chromium.js';
import { serveProbe } from './probe-server.js';
import { findRuntimes } from './runtimes.js';

const run = promisify(execFile);

/** The folder of a project that has the output of `npm pack` installed. */
let project: string;
/** The client and the package that it depends on. */
let packed: readonly Packed[];

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'trellis-client-'));
  const modules = join(project, 'node_modules');
  // One after the other, as their archives have the same name.
  packed = [await install('./client'), await install('./packages/client')];
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
    await cp(join('node_modules', name), join(modules, name), { recursive: true });
  }
  await mkdir(join(modules, '@noble'));
  // Links, so that these packages find their own dependencies.
  for (const name of ['age-encryption', '@noble/curves'])
    await symlink(resolve('node_modules', name), join(modules, name));
  await cp('tests/client/probe.js', join(project, 'probe.js'));
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await writeFile(
    join(project, 'run.js'),
    "import { probe } from './probe.js';\nconsole.log(JSON.stringify(await probe(process.argv[2])));\n",
  );
});
afterAll(() => rm(project, { recursive: true }));

/** Packs a folder and unpacks the archive into the project. */
async function install(folder: string): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', folder, '--json', '--pack-destination', project]);
  const [pack] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [Packed];
  const target = join(project, 'node_modules', pack.name);
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', join(project, pack.filename), '--strip-components=1', '-C', target]);
  return pack;
}

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const readManifest = async (file: string) =>
  JSON.parse(await readFile(file, 'utf8')) as {
    readonly version: string;
    readonly license: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies?: Readonly<Record<string, string>>;
    readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
  };

/** The expected result in every runtime. The waits are capped, and their reasons reported. */
const expected = {
  version: '1.2.3',
  limitedTries: 'status 429',
  apiError: [true, 401, 'unauthenticated', 'Authentication required.', 'q1'],
  created: { label: 'é', expiresAt: '2030-01-01T00:00:00Z', key: expect.stringMatching(/^[\da-f-]{36}$/) as string },
  createdTries: 'status 503',
  reset: [],
  resetTries: 'network',
  slow: 'TimeoutError: No complete response within 300 ms',
  slowTries: Array(3).fill('No complete response within 300 ms').join(', '),
  aborted: 'Error: enough',
  objects: ['a', 'b', 'c'],
  events: [
    { id: 'e0', data: [null] },
    { id: 'e1', data: ['e0'] },
  ],
  boards: [[1], [1, 2]],
  sealed: {
    slug: 'db-password',
    used_by: ['acme/shop'],
    recipients: 2,
    opened: 'pässwörd',
    failure: 'SealingError no_key: These consumers have no public key: web-1.',
  },
  warnings: ['Trellis dashboard: this client was generated for revision <revision>; the server is at unknown.'],
};

test.each([
  [
    'trellis-client',
    /^dist\/(board-stream|generated\/(dashboard|secrets)|sealing)\/[\w-]+\.(js|d\.ts)$/,
    'dist/generated/dashboard/client.js',
  ],
  ['@trellis/client', /^(dist\/[\w-]+\.(js|js\.map|d\.ts)|src\/[\w-]+\.ts)$/, 'dist/create-client.js'],
])('the package %s contains only its modules', (name, module, example) => {
  const paths = packed.find((one) => one.name === name)?.files.map(({ path }) => path) ?? [];
  const rest = paths.filter((path) => !module.test(path));
  expect(['LICENSE', 'README.md', 'package.json']).toEqual(expect.arrayContaining(rest));
  expect(paths).toContain(example);
});

test('the package has the version, licence and dependency versions of the repository', async () => {
  const files = ['package.json', 'client/package.json', 'packages/client/package.json'];
  const [repository, client, runtime] = await Promise.all(files.map(readManifest));
  expect([client?.version, client?.license]).toEqual([repository?.version, repository?.license]);
  const used = { ...runtime?.dependencies, ...repository?.dependencies };
  const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, used[name]]));
  expect(client?.dependencies).toEqual(pick('@trellis/client', 'openapi-fetch'));
  // Only for `trellis-client/sealing`, so that readers of boards do not install them.
  expect(client?.peerDependencies).toEqual(pick('@noble/curves', 'age-encryption'));
  expect(client?.peerDependenciesMeta).toEqual({
    '@noble/curves': { optional: true },
    'age-encryption': { optional: true },
  });
});

test('the clients of the dashboard and the secrets service run without the sealing libraries', async () => {
  const alone = await mkdtemp(join(tmpdir(), 'trellis-client-alone-'));
  try {
    const modules = join(alone, 'node_modules');
    for (const name of ['trellis-client', '@trellis/client', 'openapi-fetch', 'openapi-typescript-helpers'])
      await cp(join(project, 'node_modules', name), join(modules, name), { recursive: true });
    const entries = ['', '/boards', '/calls', '/secrets', '/secrets/calls'].map((entry) => `'trellis-client${entry}'`);
    const script = `for (const name of [${entries.join(', ')}]) console.log(Object.keys(await import(name)).length > 0)`;
    const { stdout } = await run('node', ['--input-type=module', '--eval', script], { cwd: alone });
    expect(stdout.trim().split('\n')).toEqual(entries.map(() => 'true'));
  } finally {
    await rm(alone, { recursive: true });
  }
});

test.each(findRuntimes())('$name runs the packed client', async ({ command }) => {
  const server = await serveProbe();
  try {
    const env = { ...process.env, TRELLIS_TOKEN: 'trl_env' };
    const { stdout } = await run(command, [join(project, 'run.js'), server.url], { env });
    expect(JSON.parse(stdout)).toEqual({ ...expected, authorization: ['trl_env'] });
  } finally {
    await server.close();
  }
});

describeInBrowser('packed client in a browser', () => {
  test('a page runs the bundled client', async () => {
    const bundle = await build({
      stdin: { contents: "import { probe } from './probe.js';\nwindow.probe = probe;\n", resolveDir: project },
      bundle: true,
      format: 'esm',
      write: false,
    });
    const page = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/bundle.js"></script>';
    const server = await serveProbe({ '/': page, '/bundle.js': bundle.outputFiles[0]!.text });
    const browser = await openBrowser();
    try {
      const tab: Page = await browser.newPage();
      await tab.goto(server.url);
      const result: unknown = await tab.evaluate('window.probe(location.origin)');
      expect(result).toEqual({ ...expected, authorization: [null] });
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
