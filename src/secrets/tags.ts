import { AppError } from '@trellis/core/errors';

const TAG = /^[a-z0-9._/-]{1,32}$/;
const MAX_TAGS = 10;

/**
 * Returns the tags in lower case, without duplicates, in alphabetical order.
 *
 * @throws AppError `invalid_input` for an invalid tag, and for more than 10.
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
  // Only ASCII is lower-cased: the lower case of the Kelvin sign, for example, is an ASCII letter.
  const tag = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (TAG.test(tag)) return tag;
  const message = 'Expected a tag to be 1 to 32 characters of a-z, 0-9, ".", "_", "/" and "-".';
  throw new AppError('invalid_input', message, { field: `tags.${index}` });
}
