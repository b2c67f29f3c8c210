/** Cursors: the place in a list at which its next page starts, as an opaque text for clients. */
import { AppError } from '@trellis/core/errors';

/** A request for one page. */
export interface PageRequest {
  readonly limit?: number;
  /** At most {@link MAX_OFFSET}; ignored with a cursor. */
  readonly offset?: number;
  /** The cursor in the previous page. */
  readonly cursor?: string;
}

/** The start of a page: an offset, or the contents of a cursor. */
export interface PageStart<Key> {
  /** The values that sort the last entry before the page; `undefined` for an offset. */
  readonly key: Key | undefined;
  /** The number of entries before the page. */
  readonly position: number;
  /** The number of entries in the list, counted for the page of the first cursor; `undefined` for an offset. */
  readonly total: number | undefined;
}

/** Skipping entries takes time for each, and a cursor takes none. */
const MAX_OFFSET = 100_000;

/**
 * Returns the start of a page.
 *
 * @throws AppError `invalid_input` for an offset that is too large, and for a cursor that no page contained.
 */
export function toPageStart<Key extends readonly unknown[]>(
  { cursor, offset = 0 }: PageRequest,
  isKey: (key: readonly unknown[]) => key is Key,
): PageStart<Key> {
  if (cursor !== undefined) return parseCursor(cursor, isKey);
  if (offset <= MAX_OFFSET) return { key: undefined, position: offset, total: undefined };
  const message = `Expected offset to be at most ${MAX_OFFSET}. To read more, follow the Link header of each page.`;
  throw new AppError('invalid_input', message, { field: 'offset' });
}

interface Cursor<Key> {
  readonly key: Key;
  readonly position: number;
  readonly total: number;
}

/** Formats a cursor, which {@link toPageStart} reads. */
export function printCursor({ key, position, total }: Cursor<readonly (number | string)[]>): string {
  return Buffer.from(JSON.stringify([position, total, ...key])).toString('base64url');
}

function parseCursor<Key extends readonly unknown[]>(
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
