/**
 * Hooks of Node's module loader for tests. They load TypeScript by replacing its types with spaces, so that lines and
 * columns stay those of the source. Modules of tests are loaded again for each test file, those of the
 * application once.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import typescript from '@swc/wasm-typescript';

const ROOT = new URL('../..', import.meta.url).href;

/** Test files and the modules beside them, of the application and of the packages. */
const isOfTests = (url) => url.startsWith(ROOT) && /^(?:packages\/[^/]+\/)?tests\//u.test(url.slice(ROOT.length));

export async function resolve(specifier, context, nextResolve) {
  const found = findTypeScript(specifier, context) ?? (await nextResolve(specifier, context));
  const url = new URL(found.url);
  const run = new URL(context.parentURL ?? url).searchParams.get('run');
  if (run === null || !isOfTests(url.href)) return found;
  url.searchParams.set('run', run);
  return { ...found, url: url.href };
}

/** Sources import each other with the extension of the built files. */
function findTypeScript(specifier, { parentURL = '' }) {
  const [parent] = parentURL.split('?');
  if (!/^\.{1,2}\/.*\.js$/u.test(specifier) || !parent.endsWith('.ts')) return undefined;
  const url = new URL(specifier.replace(/\.js$/u, '.ts'), parent);
  return existsSync(url) ? { url: url.href, format: 'module', shortCircuit: true } : undefined;
}

export async function load(url, context, nextLoad) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  return { format: 'module', source: removeTypes(await readFile(filename, 'utf8'), filename), shortCircuit: true };
}

/** @throws SyntaxError at the position in the file; the compiler throws an object. */
function removeTypes(source, filename) {
  try {
    return typescript.transformSync(source, { filename, mode: 'strip-only' }).code;
  } catch (cause) {
    const { message, startLine, startColumn } = cause;
    throw new SyntaxError(`${filename}:${startLine}:${startColumn} ${message}`, { cause });
  }
}
