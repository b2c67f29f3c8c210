import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('..', import.meta.url));
const ENGINE = join(TESTS, 'storage/engine.ts');

/** The relative imports of values, in source order. */
const IMPORT = /^(?:import|export)(?! type\b)[^'"]*?['"](\.[^'"]+)\.js['"]|\bimport\(['"](\.[^'"]+)\.js['"]\)/gmu;

/**
 * Tests of what the application does before and after it stores, such as the rules of actions and the answers of
 * forges. What can depend on the engine is a statement with its values, and a conflict of transactions: each statement
 * of these files also runs in another file of the second engine, and they have no concurrent transactions.
 */
const ENGINE_NEUTRAL = [
  'dashboard/pull-requests/actions.test.ts',
  'dashboard/pull-requests/effects.test.ts',
  'dashboard/refresh/invalid-responses.test.ts',
  'dashboard/settings/test-connection.test.ts',
  'deploy/proxies.test.ts',
  'sealing/put-secret.test.ts',
  'server/pages/built-pages.test.ts',
  'site-index/site-index.test.ts',
];

/**
 * Lists the test files that open a database, directly or by a module of the tests, and depend on its engine. Others
 * cannot depend on it, among them the tests of packages, which know no database of the application.
 */
export function listDatabaseTests() {
  const files = readdirSync(TESTS, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  const neutral = new Set(ENGINE_NEUTRAL.map((file) => join(TESTS, file)));
  for (const file of neutral) if (!existsSync(file)) throw new Error(`ENGINE_NEUTRAL: there is no ${file}.`);
  return files
    .map((file) => join(TESTS, file))
    .filter((file) => !neutral.has(file) && reaches(file, ENGINE, new Set()));
}

function reaches(file, wanted, seen) {
  if (file === wanted) return true;
  if (seen.has(file) || !file.startsWith(TESTS) || !existsSync(file)) return false;
  seen.add(file);
  const imported = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name, late]) => `${name ?? late}.ts`);
  return imported.some((name) => reaches(resolve(dirname(file), name), wanted, seen));
}
