import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import picomatch from 'picomatch';
import { AppError } from '../errors.js';
import { compileGlob } from './glob/compile-glob.js';
import { isLeftOut } from './sources/exclusions.js';

/** A query that the site keeps beside its content, to be asked ahead of its pages. */
export interface StoredQuery {
  /** From the site's folder, with `/`. */
  readonly file: string;
  readonly text: string;
  /** What it is asked with, once for each. */
  readonly variables: readonly Readonly<Record<string, unknown>>[];
}

/** Where they are unless `queries` in the site's configuration says otherwise. */
export const STORED_QUERIES = 'queries/**/*.graphql';

/** A site has a query for each of its templates; more are another folder under that name. */
const MAX_QUERIES = 1000;

/** Queries and lists of values are written by hand, or by a small script. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * Reads the queries of a site's folder, in the order of their paths.
 *
 * @throws AppError `invalid_input` naming the file when one is too large, or its variables are not as expected.
 */
export async function readStoredQueries(directory: string, glob: string): Promise<StoredQuery[]> {
  const matches = compileGlob(glob);
  const files = (await listBelow(directory, picomatch.scan(glob).base)).filter((file) => matches(file));
  if (files.length > MAX_QUERIES) {
    throw new AppError('invalid_input', `Expected at most ${MAX_QUERIES} files for ${glob}; found ${files.length}.`);
  }
  const queries: StoredQuery[] = [];
  for (const file of files.sort()) queries.push(await readStoredQuery(directory, file));
  return queries;
}

async function readStoredQuery(directory: string, file: string): Promise<StoredQuery> {
  const beside = file.replace(/\.[^./]*$/u, '.variables.json');
  const [text = '', values] = await Promise.all([file, beside].map((one) => readBounded(directory, one)));
  return { file, text, variables: values === undefined ? [{}] : parseVariables(values, beside) };
}

/** All files below a folder, or the file itself; none where there is nothing. */
async function listBelow(directory: string, base: string): Promise<string[]> {
  const entries = await readdir(path.join(directory, base), { withFileTypes: true }).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (entries === undefined) return [base];
  const lists = entries.map(async (entry) => {
    const name = path.posix.join(base, entry.name);
    if (entry.isFile()) return [name];
    return entry.isDirectory() && !isPrivate(entry.name) ? listBelow(directory, name) : [];
  });
  return (await Promise.all(lists)).flat();
}

/** Packages bring queries of their own, and a state folder is nobody's content. */
const isPrivate = (name: string): boolean => name.startsWith('.') || isLeftOut(name);

async function readBounded(directory: string, file: string): Promise<string | undefined> {
  const text = await readFile(path.join(directory, file), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined && text.length > MAX_CHARACTERS) {
    throw new AppError('invalid_input', `${file}: expected at most ${MAX_CHARACTERS} characters; has ${text.length}.`);
  }
  return text;
}

function parseVariables(text: string, file: string): StoredQuery['variables'] {
  const sets = [parseJson(text, file)].flat();
  if (sets.every(isObject)) return sets;
  throw new AppError('invalid_input', `${file}: expected an object of variables, or a list of such.`);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_input', `${file}: expected JSON; ${String(cause)}.`, { cause });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
