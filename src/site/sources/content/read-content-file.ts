import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import prettyBytes from 'pretty-bytes';

import { describeErrorCode, getErrorCode, isMissingFileError } from '../unreadable.js';
import type { ContentParser, ParsedContent } from './content-parser.js';
import { ContentError } from './read-entries.js';

/** Parsing this much CSV takes about 100 ms. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads the records of a file without validating them. Returns `undefined` if the file was deleted.
 *
 * @throws ContentError when the file can't be read, is too large, is not text, or is not valid in its format.
 */
export async function readContentFile(file: string, parser: ContentParser): Promise<ParsedContent | undefined> {
  const bytes = await readBytes(file);
  if (bytes === undefined) return undefined;
  const extension = path.extname(file).slice(1).toLowerCase();
  if (!isUtf8(bytes) || bytes.includes(0)) throw new ContentError('expected UTF-8 text; received other bytes.', 1);
  return parser.parse(bytes.toString('utf8'), extension);
}

async function readBytes(file: string): Promise<Buffer | undefined> {
  try {
    const stats = await stat(file);
    // If the file was replaced by a pipe, reading it would block.
    if (!stats.isFile()) return undefined;
    const { size } = stats;
    if (size > MAX_BYTES) {
      const expected = `expected a file of at most ${prettyBytes(MAX_BYTES)}`;
      throw new ContentError(`${expected}; received ${prettyBytes(size)}.`, 1);
    }
    return await readFile(file);
  } catch (error) {
    if (isMissingFileError(error)) return undefined;
    if (error instanceof ContentError) throw error;
    throw new ContentError(`${describeErrorCode(getErrorCode(error))}.`, 1);
  }
}
