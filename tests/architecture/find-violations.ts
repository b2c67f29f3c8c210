import { isBuiltin } from 'node:module';
import path from 'node:path';
import { IMPORT_RULES, type ImportRule } from './import-rules.js';
import { readSource } from './read-source.js';

const TRANSPORT = ['express', 'graphql', 'graphql-http', '@graphql-tools/schema'];

/** graphql-codegen loads the default export of a schema loader, and openapi-typescript that of the compiler. */
const WITH_DEFAULT = ['packages/codegen/src/site/load-schema.ts', 'packages/codegen/src/openapi/type-nodes.ts'];

/** The settings of the server, and a program of its own. */
const READS_ENVIRONMENT = ['src/config/environment.ts', 'packages/create-trellis/src/cli.ts'];

/**
 * Lists the violations of the architecture in a file, as `file:line violation`, with the path from the repository root.
 */
export function findViolations(file: string, text: string): string[] {
  const { imports, defaultExports, environmentReads } = readSource(text);
  const forbidden = imports
    .filter(({ isType }) => !isType || IMPORT_RULES[roomOf(file)]?.isSelfContained)
    .flatMap(({ specifier, line }) => {
      const reason = findImportViolation(file, specifier);
      return reason === undefined ? [] : [`${file}:${line} ${reason}`];
    });
  const isHandWritten = /^(?:src|packages\/[^/]+\/src)\/(?!generated\/)/u.test(file);
  return [
    ...forbidden,
    // A declaration file describes the exports of a third-party module.
    ...(isHandWritten && !WITH_DEFAULT.includes(file) && !file.endsWith('.d.ts')
      ? defaultExports.map((line) => `${file}:${line} exports a default`)
      : []),
    ...(isHandWritten && !READS_ENVIRONMENT.includes(file)
      ? environmentReads.map((line) => `${file}:${line} reads the environment`)
      : []),
  ];
}

function findImportViolation(file: string, specifier: string): string | undefined {
  const room = roomOf(file);
  const rule = IMPORT_RULES[room];
  if (rule === undefined) return `is in "${room}", which is not in the table of allowed imports`;
  const target = findTarget(file, specifier);
  if (target === undefined) return isPackageTest(file) ? undefined : findPackageViolation(room, rule, specifier);
  if (isPackageTest(target) && !isPackageTest(file)) return `imports "${specifier}": only tests may import tests`;
  const isOwn = roomOf(target) === room && isSource(target) === isSource(file);
  const name = shorten(target);
  if (isOwn || rule.rooms.some((allowed) => name === allowed || name.startsWith(`${allowed}/`))) return undefined;
  return `imports "${specifier}": ${room} may import ${rule.rooms.join(', ') || 'no other folder'}`;
}

/** Returns the imported file of this repository, without extension; `undefined` for a package from elsewhere. */
function findTarget(file: string, specifier: string): string | undefined {
  const [, name, module] = /^@trellis\/([^/]+)\/(.+)$/u.exec(specifier) ?? [];
  if (name !== undefined && module !== undefined) return `packages/${name}/src/${module}`;
  if (!specifier.startsWith('.')) return undefined;
  return path.posix.join(path.posix.dirname(file), specifier).replace(/\.[jt]s$/u, '');
}

function findPackageViolation(room: string, { packages = 'all' }: ImportRule, specifier: string): string | undefined {
  if (isAllowed(packages, specifier)) return undefined;
  const allowed = typeof packages === 'string' ? packages : packages.join(', ') || 'none';
  return `imports "${specifier}": packages of ${room}: ${allowed}`;
}

function isAllowed(packages: NonNullable<ImportRule['packages']>, specifier: string): boolean {
  const isOf = (name: string) => specifier === name || specifier.startsWith(`${name}/`);
  if (packages === 'browser') return !isBuiltin(specifier);
  if (packages === 'no transport') return !TRANSPORT.some(isOf);
  return packages === 'all' || packages.some(isOf);
}

/** Whether a file belongs to the tests of a package. They may use any package from elsewhere. */
const isPackageTest = (file: string): boolean => /^packages\/[^/]+\/tests\//u.test(file);

const SOURCES = /^(?:src|packages\/([^/]+)\/(?:src|tests))\//u;

const isSource = (file: string): boolean => SOURCES.test(file);

/** `packages/site/src/site.ts` → `site/site.ts`, `src/main.ts` → `main.ts`. */
const shorten = (file: string): string =>
  file.replace(SOURCES, (_match, name?: string) => (name === undefined ? '' : `${name}/`));

/** `packages/site/src/site.ts` → `site`, `src/main.ts` → `main`, `scripts/build.ts` → `scripts`. */
function roomOf(file: string): string {
  const [first = '', second] = shorten(file).split('/');
  if (`${first}/${second ?? ''}` in IMPORT_RULES) return `${first}/${second ?? ''}`;
  if (second !== undefined || !isSource(file)) return first;
  return first.replace(/\.[jt]s$/u, '');
}
