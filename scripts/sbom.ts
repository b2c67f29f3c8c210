/**
 * Writes the software bill of materials (CycloneDX, as `npm sbom` makes it) of all packages that are installed in
 * production, on any platform.
 *
 * `npm sbom --omit dev` is not enough: it also leaves out packages that development needs too, such as graphql and pg.
 * So all packages are listed, and those that the lockfile marks as development-only are removed, except those whose
 * code is part of the build.
 */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { INCLUDED_PACKAGES } from './third-party.js';

interface Component {
  readonly name: string;
  readonly 'bom-ref': string;
  readonly purl: string;
  readonly properties: readonly { readonly name: string }[];
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Lockfile {
  readonly name: string;
  readonly packages: Readonly<
    Record<string, { readonly name?: string; readonly version?: string; readonly dev?: true }>
  >;
}

/** The property with which npm marks development-only packages. */
const DEVELOPMENT = 'cdx:npm:package:development';

/** Above the output of npm, about 1 MB per thousand packages. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const root = fileURLToPath(new URL('..', import.meta.url));
const file = process.argv[2] ?? 'trellis.cdx.json';
const lockfile = JSON.parse(await readFile(`${root}package-lock.json`, 'utf8')) as Lockfile;
const bom = keepProduction(runNpm());
await writeFile(file, `${JSON.stringify(bom, undefined, 2)}\n`);
console.log(`${file}: ${bom.components.length} packages`);

function runNpm(): Bom {
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { status, stdout, stderr, error } = spawnSync('npm', ['sbom', ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
    // npm is a script with a different name on Windows.
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw error ?? new Error(stderr);
  return JSON.parse(stdout) as Bom;
}

function keepProduction({ metadata, components, dependencies, ...rest }: Bom): Bom {
  const production = listProduction();
  const kept = new Map<string, Component>();
  for (const component of components) {
    if (!production.has(decodeURIComponent(component.purl.replace('pkg:npm/', '')))) continue;
    const properties = component.properties.filter(({ name }) => name !== DEVELOPMENT);
    kept.set(component['bom-ref'], { ...component, properties });
  }
  const { component } = metadata;
  const isKept = (ref: string): boolean => kept.has(ref) || ref === component['bom-ref'];
  return {
    ...rest,
    // npm uses the name of the folder.
    metadata: { ...metadata, component: { ...component, name: lockfile.name } },
    components: [...kept.values()],
    dependencies: dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

/** Name and version of a package. */
function listProduction(): ReadonlySet<string> {
  const included = new Set(INCLUDED_PACKAGES.map((name) => `node_modules/${name}`));
  const isProduction = (path: string, dev?: true): boolean => dev !== true || included.has(path);
  const packages = Object.entries(lockfile.packages).filter(
    ([path, { dev }]) => path !== '' && isProduction(path, dev),
  );
  return new Set(packages.map(([path, { name, version = '' }]) => `${name ?? nameOf(path)}@${version}`));
}

/** Returns the name in a path such as `node_modules/a/node_modules/@b/c`, `packages/c` or `stand-ins/c`. */
function nameOf(path: string): string {
  return path.replace(/^.*node_modules\//, '').replace(/^(?:packages|stand-ins)\//, '');
}
