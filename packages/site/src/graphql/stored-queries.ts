import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@trellis/core/errors';
import { type DocumentNode, GraphQLError, Kind, parse, type ValueNode, visit } from 'graphql';
import picomatch from 'picomatch';
import { compileGlob } from '../patterns/patterns.js';
import { findFormatConflict } from '../query/dates.js';
import { isIgnored } from '../sources/site-sources.js';

/** A GraphQL query in the site's folder, whose images are generated ahead of time. */
export interface StoredQuery {
  /** The path from the site's folder, with `/`. */
  readonly file: string;
  readonly text: string;
  /** The variables of each run of the query. */
  readonly variables: readonly Readonly<Record<string, unknown>>[];
}

/** A site has one query per template; more files than this mean that the glob is wrong. */
const MAX_QUERIES = 1000;

/** Far more than a query or a list of variables needs. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * Reads the stored queries of a site, sorted by path.
 *
 * @throws AppError `invalid_input` with the file when one is too large or its variables are invalid.
 */
export async function readStoredQueries(directory: string, glob: string): Promise<StoredQuery[]> {
  const matches = compileGlob(glob);
  const files = (await listBelow(directory, findQueryFolder(glob))).filter((file) => matches(file));
  if (files.length > MAX_QUERIES) {
    throw new AppError('invalid_input', `Expected at most ${MAX_QUERIES} files for ${glob}; received ${files.length}.`);
  }
  const queries: StoredQuery[] = [];
  for (const file of files.sort()) queries.push(await readStoredQuery(directory, file));
  return queries;
}

/** Returns the folder of the stored queries: the part of the glob before its first wildcard. */
export const findQueryFolder = (glob: string): string => picomatch.scan(glob).base;

async function readStoredQuery(directory: string, file: string): Promise<StoredQuery> {
  const beside = file.replace(/\.[^./]*$/u, '.variables.json');
  const [text = '', values] = await Promise.all([file, beside].map((one) => readBounded(directory, one)));
  return { file, text, variables: values === undefined ? [{}] : parseVariables(values, beside) };
}

/** Returns all files below a folder, or the file itself; none if the path does not exist. */
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

/** Skips folders of packages, which have their own queries, and hidden folders such as the state folder. */
const isPrivate = (name: string): boolean => name.startsWith('.') || isIgnored(name);

async function readBounded(directory: string, file: string): Promise<string | undefined> {
  const text = await readFile(path.join(directory, file), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined && text.length > MAX_CHARACTERS) {
    throw new AppError(
      'invalid_input',
      `${file}: expected at most ${MAX_CHARACTERS} characters; received ${text.length}.`,
    );
  }
  return text?.replace(/^\uFEFF/u, '');
}

function parseVariables(text: string, file: string): StoredQuery['variables'] {
  const sets = [parseJson(text, file)].flat();
  if (sets.every(isObject)) return sets;
  throw new AppError('invalid_input', `${file}: expected an object of variables or a list of such objects.`);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_input', `${file}: not valid JSON: ${String(cause)}.`, { cause });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns a warning for each date format in stored queries that Luxon reads and that Moment would read differently. A
 * query that can't be parsed has none.
 */
export function listFormatWarnings(queries: readonly StoredQuery[]): string[] {
  return queries.flatMap((query) => {
    const warnings = new Map<string, string>();
    for (const { line, format } of listFormats(query)) {
      const conflict = findFormatConflict(format);
      if (!conflict || warnings.has(format)) continue;
      const meanings = `Luxon's tokens and returns "${conflict.luxon}"; with Moment's it would return "${conflict.moment}"`;
      warnings.set(format, `${query.file}:${line}: The date format "${format}" is read with ${meanings}.`);
    }
    return [...warnings.values()];
  });
}

interface FormatUse {
  readonly line: number;
  readonly format: string;
}

function listFormats({ text, variables }: StoredQuery): FormatUse[] {
  const document = parseQuery(text);
  if (document === undefined) return [];
  const uses: FormatUse[] = [];
  const names = new Map<string, number>();
  const add = (value: ValueNode | undefined, line: number): void => {
    if (value?.kind === Kind.STRING) uses.push({ line, format: value.value });
  };
  visit(document, {
    Argument({ name, value, loc }) {
      if (name.value !== 'formatString') return;
      const line = loc?.startToken.line ?? 1;
      if (value.kind === Kind.VARIABLE) names.set(value.name.value, line);
      else add(value, line);
    },
  });
  visit(document, {
    VariableDefinition({ variable, defaultValue }) {
      const line = names.get(variable.name.value);
      if (line !== undefined) add(defaultValue, line);
    },
  });
  for (const [name, line] of names) {
    const given = variables.map((set) => set[name]).filter((value) => typeof value === 'string');
    uses.push(...given.map((format) => ({ line, format })));
  }
  return uses;
}

function parseQuery(text: string): DocumentNode | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}
