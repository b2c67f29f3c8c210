import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { INCLUDED_PACKAGES } from '../scripts/third-party.js';
import { installTool } from '../tools/install.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const schemas = join(root, 'tools/cyclonedx/node_modules/@cyclonedx/cyclonedx-library/res/schema');

interface Locked {
  readonly version?: string;
  readonly name?: string;
  readonly integrity?: string;
  readonly dev?: true;
  readonly link?: true;
  readonly hasInstallScript?: true;
}

interface Component {
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
}

interface Bom {
  readonly specVersion: string;
  readonly metadata: { readonly component: Component & { readonly name: string } };
  readonly components: readonly Component[];
}

const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8')) as T;

let folder: string;
let bom: Bom;
/** All packages that are installed in production or part of the build, by their path in `node_modules`. */
let locked: (readonly [string, Locked])[];

beforeAll(async () => {
  installTool('tools/cyclonedx');
  const lock = await readJson<{ packages: Record<string, Locked> }>(join(root, 'package-lock.json'));
  const included = INCLUDED_PACKAGES.map((name) => `node_modules/${name}`);
  locked = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path !== '' && (!dev || included.includes(path)) && !link,
  );
  folder = await mkdtemp(join(tmpdir(), 'trellis-sbom-'));
  const file = join(folder, 'trellis.cdx.json');
  const { status, stderr } = spawnSync('npm', ['run', 'sbom', '--', file], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  bom = await readJson<Bom>(file);
});
afterAll(() => rm(folder, { recursive: true }));

/** Validates with the schema that the CycloneDX project publishes. */
test('npm run sbom writes a valid CycloneDX file', async () => {
  const ajv = new Ajv({ strict: false });
  formats.default(ajv);
  // ajv-formats lacks these formats of strings.
  ajv.addFormat('iri-reference', true).addFormat('idn-email', true);
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
    ajv.addSchema({ ...(await readJson<object>(join(schemas, name))), $id: `http://cyclonedx.org/schema/${name}` });
  }
  const validate = ajv.compile(await readJson(join(schemas, `bom-${bom.specVersion}.SNAPSHOT.schema.json`)));
  validate(bom);
  expect(validate.errors).toBeNull();
  expect(bom.metadata.component).toMatchObject({ name: 'trellis', type: 'application' });
  expect(validate({ ...bom, components: [{ name: 'no type' }] })).toBe(false);
});

test('the SBOM lists exactly the packages of the lockfile that are installed in production or part of the build', () => {
  const names = locked.map(([path, { name, version }]) => {
    return `${name ?? path.replace(/^.*(node_modules|stand-ins|packages)\//, '')}@${version}`;
  });
  const listed = bom.components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
  expect(new Set(listed)).toEqual(new Set(names));
});

test('the SBOM has the licence of every package, and its hash from the lockfile', () => {
  const hashes = new Set(locked.flatMap(([, { integrity }]) => integrity ?? []));
  for (const { purl, licenses, hashes: found = [] } of bom.components) {
    expect([purl, licenses]).toEqual([purl, [expect.anything()]]);
    for (const { alg, content } of found) {
      expect([...hashes]).toContain(
        `${alg.replace('-', '').toLowerCase()}-${Buffer.from(content, 'hex').toString('base64')}`,
      );
    }
  }
  const unhashed = bom.components.filter(({ hashes: found }) => found === undefined).map(({ purl }) => purl);
  expect(unhashed.map((purl) => purl.replace(/@[^@]*$/, '')).toSorted()).toEqual([
    'pkg:npm/%40trellis/client',
    ...['codegen', 'core', 'images', 'server', 'site'].map((name) => `pkg:npm/%40trellis/${name}`),
    'pkg:npm/create-trellis',
  ]);
});

test('only known production packages have install scripts', () => {
  const running = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  expect(running).toEqual(['node_modules/@photostructure/sqlite']);
});
