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
