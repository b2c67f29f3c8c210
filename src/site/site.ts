import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

import { AppError } from '../errors.js';
import type { CrawlProgress } from './crawl-progress.js';
import type { RecordTables } from './record-schema.js';
import { openRecordStore } from './record-store.js';
import type { RecordStore } from './record-store.js';
import { crawl } from './sources/crawl.js';
import type { CrawlSummary } from './sources/crawl.js';
import { writeSiteRecords } from './sources/site-records.js';

export interface Site {
  readonly store: RecordStore;
  readonly summary: CrawlSummary;
  close(): void;
}

export interface SiteOptions {
  /** The site's folder. */
  readonly directory: string;
  /** Where the server keeps what is its own; never part of the site, even when it lies in the folder. */
  readonly stateDirectory: string;
  readonly tables: RecordTables;
  /** What `sourceInstanceName` says. */
  readonly sourceName?: string;
  /** `internal.description` shows paths from here; the folder that the process was started in, unless named. */
  readonly workingDirectory?: string;
  readonly onProgress?: ((progress: CrawlProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The original's name for files that no configured source has found. */
const UNNAMED_SOURCE = '__PROGRAMMATIC__';

/**
 * Opens the records of a site's folder and brings them up to date.
 *
 * @throws AppError `invalid_input` when there is no such folder, `unprocessable`
 * when anything in it can't be read.
 */
export async function openSite(options: SiteOptions): Promise<Site> {
  const directory = path.resolve(options.directory);
  const root = requireFolder(directory);
  mkdirSync(options.stateDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(options.stateDirectory, `site-${shortDigest(directory)}.db`);
  const store = openRecordStore({ file, tables: options.tables });
  try {
    const source = {
      name: options.sourceName ?? UNNAMED_SOURCE,
      directory,
      workingDirectory: options.workingDirectory ?? process.cwd(),
    };
    const { signal, onProgress } = options;
    const except = [realpathSync(options.stateDirectory)];
    const summary = await crawl({ source, store, root, except, signal, onProgress });
    writeSiteRecords(store, options.tables);
    return { store, summary, close: () => store.close() };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Gives where the folder really is. */
function requireFolder(directory: string): string {
  const isFolder = statSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder) throw new AppError('invalid_input', `Expected the folder of a site; ${directory} is none.`);
  return realpathSync(directory);
}

/** Sites that share a state folder keep their records apart. */
function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
