import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('..', import.meta.url));
const ENGINE = join(TESTS, 'storage/engine.ts');

/** The relative imports of values, in source order. */
const IMPORT = /^(?:import|export)(?! type\b)[^'"]*?['"](\.[^'"]+)\.js['"]|\bimport\(['"](\.[^'"]+)\.js['"]\)/gmu;

/**
 * Lists the test files that open a database, directly or by a module of the tests. Others cannot depend on the engine,
 * among them the tests of packages, which know no database of the application.
 */
export function listDatabaseTests() {
  const files = readdirSync(TESTS, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  return files.map((file) => join(TESTS, file)).filter((file) => reaches(file, ENGINE, new Set()));
}

function reaches(file, wanted, seen) {
  if (file === wanted) return true;
  if (seen.has(file) || !file.startsWith(TESTS) || !existsSync(file)) return false;
  seen.add(file);
  const imported = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name, late]) => `${name ?? late}.ts`);
  return imported.some((name) => reaches(resolve(dirname(file), name), wanted, seen));
}
