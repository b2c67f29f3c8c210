import type { DerivedColumns } from '../records/record-schema.js';
import { FILE_PLUGIN, IMAGE_PLUGIN } from './file-record.js';

/** The extension without its dot. */
const EXTENSION = 'substr(ext, 2)';

/** The range of four-digit years in milliseconds since 1970. It ends a day early, so that rounding stays within it. */
const FOUR_DIGITS = { from: Date.parse('0000-01-01T00:00Z'), to: Date.parse('9999-12-31T00:00Z') };

const text = (value: string): string => `'${value}'`;

/**
 * Virtual columns of files, folders and images, which SQL computes from the stored ones on demand, so that a scan does
 * not have to write them. They are cheap to compute or rarely queried.
 */
export const ENTRY_COLUMNS: DerivedColumns = {
  File: entryColumns('File'),
  Directory: entryColumns('Directory'),
  ImageProc: { 'internal.type': text('ImageProc'), 'internal.owner': text(IMAGE_PLUGIN) },
};

function entryColumns(kind: 'File' | 'Directory'): Readonly<Record<string, string>> {
  return {
    'internal.type': text(kind),
    'internal.owner': text(FILE_PLUGIN),
    root: text('/'),
    base: 'name || ext',
    extension: `CASE WHEN length(ext) = octet_length(ext) THEN lower(${EXTENSION}) ELSE lower_case(${EXTENSION}) END`,
    dir: `coalesce(nullif(${without('absolutePath')}, ''), '/')`,
    relativeDirectory: `CASE relativePath WHEN '' THEN '..' ELSE ${without('relativePath')} END`,
    atime: isoTime('atimeMs'),
    ctime: isoTime('ctimeMs'),
    birthTime: isoTime('birthtimeMs'),
  };
}

/** Returns the expression for a path without its last segment. */
function without(path: string): string {
  return `substr(${path}, 1, max(0, length(${path}) - length(name || ext) - 1))`;
}

/** For the years 0 to 9999, SQLite's own function formats like `toISOString`, in half the time of a call to our own. */
function isoTime(column: string): string {
  const known = `${column} >= ${FOUR_DIGITS.from} AND ${column} < ${FOUR_DIGITS.to}`;
  const seconds = `floor(${column} + 0.5) / 1000.0`;
  return `CASE WHEN ${known} THEN strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch') ELSE iso_time(${column}) END`;
}
