import { parse } from 'dotenv';

/** A file with variables, as the command line and the pages read it. */
export interface EnvFile {
  /** Pairs of variable and value, in the order of the file. If a variable occurs twice, its last value counts. */
  readonly entries: readonly (readonly [variable: string, value: string])[];
  /** The numbers of the lines that set no variable and are not comments, starting at 1. */
  readonly ignoredLines: readonly number[];
}

export function parseEnvFile(text: string): EnvFile {
  const entries = Object.entries(parse(text));
  const long = entries.map(([, value]) => value).filter((value) => value.includes('\n'));
  return { entries, ignoredLines: findIgnoredLines(text, long.join('\n')) };
}

/** The lines of `multiline`, which are values of several lines, belong to a variable above them. */
function findIgnoredLines(text: string, multiline: string): readonly number[] {
  const inner = new Set(multiline.split('\n').map((line) => line.trim()));
  return text.split(/\r\n?|\n/).flatMap((line, index) => {
    const content = line.trim();
    const isInner = inner.has(content) || inner.has(content.replace(/(["'`])\s*(?:#.*)?$/, ''));
    return content === '' || content.startsWith('#') || isInner || Object.keys(parse(line)).length > 0
      ? []
      : [index + 1];
  });
}

/** Marks a sealed value in a .env file. */
export const SEALED_PREFIX = 'age:';

/** Returns the environment variable of a secret: `DB_PASSWORD` for `db-password`. */
export function toVariable(slug: string): string {
  const name = slug.toUpperCase().replace(/-/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** Returns the usual name for a variable: `db-password` for `DB_PASSWORD`. */
export const toKebab = (variable: string): string => variable.toLowerCase().replace(/^_+/, '').replace(/_/g, '-');

const MAX_SLUG = 128;

/** Returns why the contract does not allow a name of a secret; `undefined` if it does. */
export function findSlugProblem(slug: string): string | undefined {
  if (slug.length > MAX_SLUG) return `the name is longer than ${MAX_SLUG} characters`;
  if (/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(slug)) return undefined;
  return 'names have letters, digits, - and _, and start with a letter or digit';
}
