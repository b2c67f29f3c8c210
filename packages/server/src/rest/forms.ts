/** Forms, whose fields are text until the contract gives them a type. */
import { AppError } from '@trellis/core/errors';
import type { FieldSpec } from './operation.js';
import { readTextValues, type TextSource, type TextValues } from './text-values.js';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const MULTIPART_TYPE = 'multipart/form-data';

/**
 * Reads the fields of a form. Fields that the contract does not name are text, or lists of text, and left to its schema.
 *
 * @throws AppError `invalid_input` with the name of the field.
 */
export function readForm(fields: readonly FieldSpec[], source: TextSource): TextValues {
  const values = readTextValues(fields, source);
  const others = [...source.names()].filter((name) => !fields.some((field) => isNameOf(field, name)));
  if (others.includes('__proto__')) throw new AppError('malformed_body', 'The field name "__proto__" is not allowed.');
  const texts = others.map((name) => {
    const [text, ...more] = source.find(name);
    return [name, more.length === 0 ? text : [text, ...more]] as const;
  });
  return { ...values, ...Object.fromEntries(texts) };
}

/** Returns whether a name belongs to a field: an object may be written with a name for each property. */
function isNameOf({ name, properties = {}, style, others, isJson }: FieldSpec, given: string): boolean {
  if (given === name) return true;
  if (isJson) return false;
  return style === 'deepObject'
    ? given.startsWith(`${name}[`)
    : others !== undefined || Object.hasOwn(properties, given);
}
