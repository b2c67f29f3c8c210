import { AppError } from '../core/errors.js';
import type { PathValue } from './compile-path.js';
import type { SqlValue } from './sql.js';

/**
 * Checks that a path can be grouped by.
 *
 * @throws AppError `invalid_input` when the values are records or objects.
 */
export function assertGroupable({ objects }: PathValue, path: string): void {
  if (objects)
    throw new AppError('invalid_input', `Can't group by "${path}": its values are objects. Name one of its fields.`, {
      field: 'field',
    });
}

/** Returns the group keys of a record's value: the distinct elements of a list, and none for a missing value. */
export function toGroupKeys(value: SqlValue, path: PathValue): readonly string[] {
  if (value === null) return [];
  if (!path.list) return [toText(value, path)];
  const elements = (JSON.parse(String(value)) as unknown[]).flat(Infinity);
  return [...new Set(elements.filter((element) => element !== null).map((element) => toText(element, path)))];
}

const toText = (value: unknown, { boolean }: PathValue): string =>
  boolean ? String(value === 1 || value === true) : String(value);

/** Sorts texts by UTF-16 code unit, as JavaScript compares strings. */
export const sortTexts = (texts: Iterable<string>): string[] => [...texts].sort();
