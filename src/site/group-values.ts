import { AppError } from '../errors.js';
import type { PathValue } from './compile-path.js';
import type { SqlValue } from './sql.js';

/** @throws AppError `invalid_input` when the values are records or objects, which have no text. */
export function requireText({ objects }: PathValue, path: string): void {
  if (objects)
    throw new AppError('invalid_input', `Expected a field with values to group by; "${path}" holds objects.`, {
      field: 'field',
    });
}

/** The texts that one record's value stands for: of a list, each different one; of a missing value, none. */
export function textsOf(value: SqlValue, path: PathValue): readonly string[] {
  if (value === null) return [];
  if (!path.list) return [toText(value, path)];
  const elements = (JSON.parse(String(value)) as unknown[]).flat(Infinity);
  return [...new Set(elements.filter((element) => element !== null).map((element) => toText(element, path)))];
}

const toText = (value: unknown, { boolean }: PathValue): string =>
  boolean ? String(value === 1 || value === true) : String(value);

/** By UTF-16 code unit, the order of JavaScript's own comparison. */
export const sortTexts = (texts: Iterable<string>): string[] => [...texts].sort();
