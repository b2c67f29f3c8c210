/** The environment variable of an object: `db-password` is in `DB_PASSWORD`. */
export function toVariable(slug: string): string {
  const name = slug.toUpperCase().replace(/-/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** The inverse, as far as there is one: `DB_PASSWORD` is the variable of `db-password`. */
export const toKebab = (variable: string): string => variable.toLowerCase().replace(/^_+/, '').replace(/_/g, '-');
