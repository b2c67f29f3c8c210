import type { DerivedColumns } from '../record-schema.js';
import { FILE_PLUGIN, IMAGE_PLUGIN } from './file-record.js';

/** Without its dot. */
const EXTENSION = 'substr(ext, 2)';

/** Years of four digits, in milliseconds since 1970; the last is cut short, so that rounding does not leave it. */
const FOUR_DIGITS = { from: Date.parse('0000-01-01T00:00Z'), to: Date.parse('9999-12-31T00:00Z') };

const text = (value: string): string => `'${value}'`;

/**
 * Columns of files, folders and pictures that SQL makes of the others when they
 * are asked for, so that a crawl need neither make nor write them: those that
 * are quickly made or seldom asked for.
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

/** A path without its last part. */
function without(path: string): string {
  return `substr(${path}, 1, max(0, length(${path}) - length(name || ext) - 1))`;
}

/** SQLite's own function writes the years from 0 to 9999 as `toISOString` does, in half the time of a call of ours. */
function isoTime(column: string): string {
  const known = `${column} >= ${FOUR_DIGITS.from} AND ${column} < ${FOUR_DIGITS.to}`;
  const seconds = `floor(${column} + 0.5) / 1000.0`;
  return `CASE WHEN ${known} THEN strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch') ELSE iso_time(${column}) END`;
}
