/** Marks a sealed value in a .env file. */
export const SEALED_PREFIX = 'age:';

/** Returns the environment variable of a secret: `DB_PASSWORD` for `db-password`. */
export function toVariable(slug: string): string {
  const name = slug.toUpperCase().replace(/-/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** Returns the usual name for a variable: `db-password` for `DB_PASSWORD`. */
export const toKebab = (variable: string): string => variable.toLowerCase().replace(/^_+/, '').replace(/_/g, '-');
