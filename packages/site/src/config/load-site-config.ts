import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@trellis/core/errors';
import { describeErrorCode, getErrorCode } from '../sources/file-errors.js';
import { assertUniqueSources, type SiteConfig, toSiteConfig } from './site-config.js';

export interface LoadedSiteConfig {
  readonly config: SiteConfig;
  /** The file's name, or `undefined` when the site has none. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

const OWN_FILE = /^site\.config\.(json|yaml|yml|js|mjs|cjs|ts|mts)$/;
const GATSBY_FILE = /^gatsby-config\.(js|mjs|cjs|ts)$/;

/** A hand-written configuration has a few kilobytes; a larger file under this name is something else. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the site's configuration from `site.config.*`, otherwise from the literals of `gatsby-config.*`, otherwise uses
 * the defaults. A `site.config.js` or `.ts` is run, because the owner of the site wrote it for that purpose; a
 * `gatsby-config.*` is never run.
 *
 * @throws AppError `invalid_input` with the file and the place when there are two files or the file is invalid.
 */
export async function loadSiteConfig(directory: string): Promise<LoadedSiteConfig> {
  const names = (await listFolder(directory)).sort();
  const own = names.filter((name) => OWN_FILE.test(name));
  if (own.length > 1) {
    throw new AppError('invalid_input', `Found several site configurations: ${own.join(' and ')}. Keep only one.`);
  }
  const file = own[0] ?? names.find((name) => GATSBY_FILE.test(name));
  if (file === undefined) return { config: toSiteConfig({}, directory), file, warnings: [] };
  // Loaded on demand: the validator takes 200 ms to load, and a site without a configuration does not need it.
  const { validateSiteConfig } = await import('./validate-site-config.js');
  if (own.length === 1) {
    const written = await readOwnFile(path.join(directory, file), file);
    const config = toSiteConfig(validateSiteConfig(written, file), directory);
    assertUniqueSources(config.sources, file);
    return { config, file, warnings: [] };
  }
  const { written, warnings } = await readStatically(path.join(directory, file), file, directory);
  return { config: toSiteConfig(validateSiteConfig(written, file), directory), file, warnings };
}

async function listFolder(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    // The message omits the path, as API callers may see it; the error at startup adds the path.
    throw new AppError('unprocessable', `The site's folder ${describeErrorCode(getErrorCode(cause))}.`, { cause });
  }
}

async function readOwnFile(absolutePath: string, name: string): Promise<unknown> {
  if (/\.(json|ya?ml)$/.test(name)) return parseData(await readBounded(absolutePath, name), name);
  const { createJiti } = await import('jiti');
  try {
    return await createJiti(import.meta.url, { moduleCache: false }).import(absolutePath, { default: true });
  } catch (error) {
    throw new AppError('invalid_input', `${name}: the module can't be run: ${firstLine(error)}`, {
      cause: error,
    });
  }
}

/** Parses JSON as YAML, its superset, so that errors in both have a line and column. */
async function parseData(text: string, name: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true, strict: true, uniqueKeys: true });
  const [error] = document.errors;
  if (error === undefined) return (document.toJS() as unknown) ?? {};
  const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
  throw new AppError('invalid_input', `${name}:${line}:${col}: ${firstLine(error)}`, { cause: error });
}

async function readStatically(absolutePath: string, name: string, directory: string) {
  const code = await readBounded(absolutePath, name);
  const { readGatsbyConfig } = await import('./gatsby-config.js');
  try {
    return readGatsbyConfig(code, name, directory);
  } catch (error) {
    throw new AppError('invalid_input', `${name}: not valid JavaScript or TypeScript: ${firstLine(error)}`, {
      cause: error,
    });
  }
}

async function readBounded(absolutePath: string, name: string): Promise<string> {
  const text = await readFile(absolutePath, 'utf8');
  if (text.length > MAX_BYTES) {
    throw new AppError('invalid_input', `${name}: expected at most ${MAX_BYTES} characters; received ${text.length}.`);
  }
  return text;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
