import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import prettyBytes from 'pretty-bytes';

import { isGone } from '../unreadable.js';
import { ContentError, readEntries } from './read-entries.js';
import type { ContentEntry } from './read-entries.js';

/** The thread answers nothing else while it parses: some tenth of a second for this much CSV. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The records in a file, before they are held to a kind; `undefined` when it has gone.
 *
 * @throws ContentError when it is too large, is not text, or holds something else than its extension says.
 */
export async function readContentFile(file: string): Promise<readonly ContentEntry[] | undefined> {
  const bytes = await readBytes(file);
  if (bytes === undefined) return undefined;
  const extension = path.extname(file).slice(1).toLowerCase();
  if (!isUtf8(bytes) || bytes.includes(0)) throw new ContentError('expected text in UTF-8; received other bytes.', 1);
  return readEntries(bytes.toString('utf8'), extension);
}

async function readBytes(file: string): Promise<Buffer | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) {
      const expected = `expected a file of at most ${prettyBytes(MAX_BYTES)}`;
      throw new ContentError(`${expected}; received ${prettyBytes(size)}.`, 1);
    }
    return await readFile(file);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
