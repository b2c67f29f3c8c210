/**
 * Sets the version of the next release: that of the packages by their changesets, and the same version for the product,
 * the client package and their dependencies on the packages. Moves the section "Unreleased" of CHANGELOG.md to it.
 *
 * Usage: npm run release:version
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The packages have the same version, so any of them has that of the release. */
const PACKAGE = 'packages/core/package.json';

/** The manifests outside of `packages`, which changesets do not update. */
const MANIFESTS = ['package.json', 'client/package.json', 'dev/package.json'];

interface Manifest {
  version: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const before = readManifest(PACKAGE).version;
execFileSync('npm', ['run', '--silent', 'changeset', '--', 'version'], { stdio: 'inherit' });
const { version } = readManifest(PACKAGE);
if (version === before) {
  console.error('No changeset requires a release. Add one with "npm run changeset".');
  process.exitCode = 1;
} else {
  for (const file of MANIFESTS) setVersion(file, version);
  releaseChangelog(version);
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: 'inherit',
  });
  console.log(`Version ${version}. Review the changes, commit them, and tag the commit v${version}.`);
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}

/** Sets the version of a manifest, and of its dependencies on the packages. */
function setVersion(file: string, to: string): void {
  const manifest = readManifest(file);
  manifest.version = to;
  for (const dependencies of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(dependencies ?? {})) {
      if (dependencies && (name.startsWith('@trellis/') || name === 'create-trellis')) dependencies[name] = to;
    }
  }
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Gives the unreleased changes their version, and adds an empty section for the next ones. */
function releaseChangelog(to: string): void {
  const text = readFileSync('CHANGELOG.md', 'utf8');
  writeFileSync('CHANGELOG.md', text.replace('## Unreleased\n', `## Unreleased\n\n## ${to}\n`));
}
