/** Cursors: the place in a list at which its next page starts, as an opaque text for clients. */
import { AppError } from '@trellis/core/errors';

/** The position of a page in its list. */
export interface PagePosition {
  /** The number of entries before the page. */
  readonly position: number;
}

interface Cursor<Key> extends PagePosition {
  /** The values that sort the last entry of the previous page. */
  readonly key: Key;
  /** The number of entries in the list, counted for its first page. */
  readonly total: number;
}

/** Formats a cursor, which {@link parseCursor} reads. */
export function printCursor({ key, position, total }: Cursor<readonly (number | string)[]>): string {
  return Buffer.from(JSON.stringify([position, total, ...key])).toString('base64url');
}

/** @throws AppError `invalid_input` for a text that no response contained as a cursor. */
export function parseCursor<Key extends readonly unknown[]>(
  text: string,
  isKey: (key: readonly unknown[]) => key is Key,
): Cursor<Key> {
  const [position, total, ...key] = parseList(text);
  if (isCount(position) && isCount(total) && isKey(key)) return { key, position, total };
  const message = 'Expected cursor to be from the Link header of the previous page.';
  throw new AppError('invalid_input', message, { field: 'cursor' });
}

function parseList(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    // No database stores NUL in text.
    return Array.isArray(parsed) && !parsed.some((part) => String(part).includes('\0')) ? parsed : [];
  } catch {
    return [];
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
