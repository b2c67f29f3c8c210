import { isBuiltin } from 'node:module';
import path from 'node:path';
import { readSource } from './read-source.js';
import { IMPORT_RULES } from './import-rules.js';
import type { ImportRule } from './import-rules.js';

const TRANSPORT = ['express', 'graphql', 'graphql-http', '@graphql-tools/schema'];

/** graphql-codegen can load only the default export of a schema loader. */
const SCHEMA_LOADER = 'src/codegen/site/load-schema.ts';

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
  const isHandWritten = file.startsWith('src/') && !file.startsWith('src/generated/');
  return [
    ...forbidden,
    ...(isHandWritten && file !== SCHEMA_LOADER
      ? defaultExports.map((line) => `${file}:${line} exports a default`)
      : []),
    ...(isHandWritten && file !== 'src/config/config.ts'
      ? environmentReads.map((line) => `${file}:${line} reads the environment`)
      : []),
  ];
}

function findImportViolation(file: string, specifier: string): string | undefined {
  const room = roomOf(file);
  const rule = IMPORT_RULES[room];
  if (rule === undefined) return `is in "${room}", which is not in the table of allowed imports`;
  if (!specifier.startsWith('.')) return findPackageViolation(room, rule, specifier);
  const target = path.posix.join(path.posix.dirname(file), specifier).replace(/\.[jt]s$/u, '');
  if (roomOf(target) === room && target.startsWith('src/') === file.startsWith('src/')) return undefined;
  const name = target.replace(/^src\//u, '');
  if (rule.rooms.some((allowed) => name === allowed || name.startsWith(`${allowed}/`))) return undefined;
  return `imports "${specifier}": ${room} may import ${rule.rooms.join(', ') || 'no other folder'}`;
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

/** `src/site/site.ts` → `site`, `src/main.ts` → `main`, `scripts/build.ts` → `scripts`. */
function roomOf(file: string): string {
  const [first = '', second] = file.replace(/^src\//u, '').split('/');
  if (second !== undefined || !file.startsWith('src/')) return first;
  return first.replace(/\.[jt]s$/u, '');
}
