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
  const wrong = describeWrongCharacter(slug);
  if (wrong === undefined) return undefined;
  return `names have letters, digits, - and _, and start with a letter or digit; received ${wrong}`;
}

/** Describes the first character that the name of a secret cannot have; `undefined` if there is none. */
export function describeWrongCharacter(slug: string): string | undefined {
  if (slug === '') return 'no character';
  const found = /^[^A-Za-z0-9]|[^A-Za-z0-9_-]/u.exec(slug);
  if (found === null) return undefined;
  const [character] = found;
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const isVisible = /^[ \p{L}\p{N}\p{P}\p{S}]$/u.test(character);
  // Letters of other scripts may look like those that are allowed.
  const shown = /^[ -~]$/.test(character) ? JSON.stringify(character) : isVisible ? `"${character}" (${code})` : code;
  return `${shown} as character ${Array.from(slug.slice(0, found.index)).length + 1}`;
}
