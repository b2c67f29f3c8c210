import { isBuiltin } from 'node:module';
import path from 'node:path';
import { readSource } from './read-source.js';
import { whoImportsWhom } from './who-imports-whom.js';
import type { Rule } from './who-imports-whom.js';

const TRANSPORT = ['express', 'graphql', 'graphql-http', '@graphql-tools/schema'];

/** graphql-codegen loads the default export of a schema loader, and no other. */
const SCHEMA_LOADER = 'src/codegen/site/load-schema.ts';

/** Lists what a file does that the house forbids, as `file:line what`; the file is named from the repository root. */
export function findViolations(file: string, text: string): string[] {
  const { imports, defaultExports, environmentReads } = readSource(text);
  const refused = imports
    .filter(({ isType }) => !isType)
    .flatMap(({ specifier, line }) => {
      const reason = refuseImport(file, specifier);
      return reason === undefined ? [] : [`${file}:${line} ${reason}`];
    });
  const isOurs = file.startsWith('src/') && !file.startsWith('src/generated/');
  return [
    ...refused,
    ...(isOurs && file !== SCHEMA_LOADER ? defaultExports.map((line) => `${file}:${line} exports a default`) : []),
    ...(isOurs && file !== 'src/config.ts'
      ? environmentReads.map((line) => `${file}:${line} reads the environment`)
      : []),
  ];
}

function refuseImport(file: string, specifier: string): string | undefined {
  const room = roomOf(file);
  const rule = whoImportsWhom[room];
  if (rule === undefined) return `is in "${room}", which the table of rooms lacks`;
  if (!specifier.startsWith('.')) return refusePackage(room, rule, specifier);
  const target = path.posix.join(path.posix.dirname(file), specifier).replace(/\.[jt]s$/u, '');
  if (roomOf(target) === room && target.startsWith('src/') === file.startsWith('src/')) return undefined;
  const name = target.replace(/^src\//u, '');
  if (rule.rooms.some((allowed) => name === allowed || name.startsWith(`${allowed}/`))) return undefined;
  return `imports "${specifier}": ${room} may import ${rule.rooms.join(', ') || 'no room'}`;
}

function refusePackage(room: string, { packages = 'all' }: Rule, specifier: string): string | undefined {
  if (isAllowed(packages, specifier)) return undefined;
  const allowed = typeof packages === 'string' ? packages : packages.join(', ') || 'none';
  return `imports "${specifier}": packages of ${room}: ${allowed}`;
}

function isAllowed(packages: NonNullable<Rule['packages']>, specifier: string): boolean {
  const isOf = (name: string) => specifier === name || specifier.startsWith(`${name}/`);
  if (packages === 'browser') return !isBuiltin(specifier);
  if (packages === 'no transport') return !TRANSPORT.some(isOf);
  return packages === 'all' || packages.some(isOf);
}

/** `src/site/site.ts` → `site`, `src/main.ts` → `main`, `scripts/build.ts` → `scripts`. */
function roomOf(file: string): string {
  const [first = '', second] = file.replace(/^src\//u, '').split('/');
  if (second !== undefined || !file.startsWith('src/')) return first;
  return first.replace(/\.[jt]s$/u, '');
}
