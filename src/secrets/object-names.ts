/** What an object may be called and labelled. */
import { AppError } from '../errors.js';

const SLUG = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** 32 characters say enough, and 10 labels are more than anyone filters by. */
const TAG = /^[a-z0-9._/-]{1,32}$/;
const MAX_TAGS = 10;

/** @throws AppError `invalid_input`; creating and renaming have the one rule. */
export function requireSlug(slug: string): void {
  if (SLUG.test(slug)) return;
  const message = 'Expected slug to be 1 to 128 letters, digits, _ and -, a letter or digit first.';
  throw new AppError('invalid_input', message, { field: 'slug' });
}

/**
 * @returns the tags in lower case, each once, in alphabetical order.
 * @throws AppError `invalid_input` for one that is none, or more than 10.
 */
export function parseTags(texts: readonly string[]): string[] {
  const tags = texts.map(toTag);
  const found = [...new Set(tags)].sort();
  if (found.length <= MAX_TAGS) return found;
  throw new AppError('invalid_input', `Expected at most ${MAX_TAGS} tags; received ${found.length}.`, {
    field: 'tags',
  });
}

function toTag(text: string, index: number): string {
  // Letters beyond ASCII that have a lower case in it, such as the Kelvin sign, are none of ours.
  const tag = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (TAG.test(tag)) return tag;
  const message = 'Expected a tag to be 1 to 32 of a-z, 0-9, and . _ / -.';
  throw new AppError('invalid_input', message, { field: `tags.${index}` });
}
