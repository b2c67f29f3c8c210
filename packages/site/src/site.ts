import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { moveDamagedAside } from '@trellis/core/damaged-file';
import type { ScalarCodecs } from '@trellis/core/record-types';
import type { StatementWatch } from '@trellis/core/slow-statements';
import { isDamage } from '@trellis/core/storage-faults';
import { loadSiteConfig } from './config/load-site-config.js';
import { DEFAULT_SOURCE_NAME, type SiteConfig } from './config/site-config.js';
import { writeSiteRecords } from './config/site-records.js';
import { openRecordStore, type RecordStore } from './record-store.js';
import type { RecordTables } from './records/record-schema.js';
import { type ContentProblems, openContentRecords } from './sources/content/content.js';
import { ENTRY_COLUMNS } from './sources/file-records.js';
import {
  EntryProblems,
  formatProblem,
  type ProblemReport,
  type SiteProblem,
  toProblemReport,
} from './sources/problems.js';
import type { ScanProgress, ScanSummary } from './sources/scan-source.js';
import { scanSources } from './sources/scan-sources.js';
import { createSources, deleteObsoleteSources, deleteSourceRecords } from './sources/site-sources.js';
import { SiteWatcher, type SiteWatcherCallbacks } from './watch/site-watcher.js';

export interface Site {
  readonly store: RecordStore;
  readonly config: SiteConfig;
  readonly summary: ScanSummary;
  /** Returns the current problems: skipped entries and invalid values. */
  problems(): ProblemReport;
  close(): void;
  /** Closes the site, and moves its damaged records aside, so that opening it again makes new ones. */
  discard(): void;
}

export interface SiteOptions {
  /** The site's folder. */
  readonly directory: string;
  /** The state folder of the server, which is never part of the site, even if it is inside the site's folder. */
  readonly stateDirectory: string;
  /** Further paths of the server that are not part of the site, such as its configuration file. */
  readonly except?: readonly string[];
  readonly tables: RecordTables;
  /** The codecs of the scalars of the application, which read the values of files. */
  readonly codecs?: ScalarCodecs;
  /** The `sourceInstanceName` of files when no source is configured. */
  readonly sourceName?: string;
  /** The folder to which paths in `internal.description` are relative; by default the site's folder. */
  readonly workingDirectory?: string;
  /**
   * Called with problems for the site's owner to fix, and their number, which may be greater than that of the messages.
   */
  readonly onWarnings?: (messages: readonly string[], count: number) => void;
  readonly onProgress?: (progress: ScanProgress) => void;
  readonly signal?: AbortSignal;
  /** Called when a query or an update of the open site finds its records damaged. {@link Site.discard} helps. */
  readonly onDamage?: (error: unknown) => void;
  /** Enables watching the sources, which begins before they are read and ends when the site is closed. */
  readonly watch?: SiteWatchOptions;
  /** Receives slow statements of queries. */
  readonly statements?: StatementWatch;
}

export type SiteWatchOptions = Pick<SiteWatcherCallbacks, 'onChange' | 'onProblem'>;

/**
 * Opens the site as {@link openRecords} does. Records that turn out to be damaged are moved aside and made again.
 */
export async function openSite(options: SiteOptions): Promise<Site> {
  const directory = path.resolve(options.directory);
  mkdirSync(options.stateDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(options.stateDirectory, `site-${shortDigest(directory)}.db`);
  try {
    return await openRecords(options, file);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const moved = moveDamagedAside(file) ?? file;
    options.onWarnings?.([`The records of the site were damaged and are made again; the old ones are in ${moved}.`], 1);
    return openRecords(options, file);
  }
}

/**
 * Opens the records of a site and brings them up to date by scanning its sources, or the whole folder if no source is
 * configured. An entry or source that can't be read is skipped and reported.
 *
 * @throws AppError `invalid_input` when the configuration is invalid; `unprocessable` when the folder or every source
 * can't be read.
 */
async function openRecords(options: SiteOptions, file: string): Promise<Site> {
  const directory = path.resolve(options.directory);
  const { config, warnings } = await loadSiteConfig(directory);
  const { tables, onDamage, statements: watch } = options;
  const store = openRecordStore({ file, tables, derived: ENTRY_COLUMNS, watch, onDamage });
  try {
    const { summary, problems, skipped, live, content, listProblems } = await readSite(directory, {
      ...options,
      config,
      store,
    });
    const more = await writeSiteRecords(store, { tables: options.tables, config, directory });
    const before = [...warnings, ...more, ...skipped.map((problem) => `Skipped: ${formatProblem(problem)}`)];
    const count = before.length + problems.count;
    if (count > 0) options.onWarnings?.([...before, ...problems.messages], count);
    live?.start();
    makeIndexes(store, options);
    const close = (): void => {
      live?.close();
      void content.close();
      store.close();
    };
    const discard = (): void => {
      close();
      moveDamagedAside(file);
    };
    return { store, config, summary, problems: () => toProblemReport(listProblems()), close, discard };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Creates the indexes in the background. A failure, for example of a full disk, only leaves queries slow. */
function makeIndexes(store: RecordStore, { onWarnings }: SiteOptions): void {
  store.createMissingIndexes().catch((error: unknown) => {
    onWarnings?.([`Queries stay slow because an index can't be created: ${String(error)}`], 1);
  });
}

type Reading = SiteOptions & { readonly config: SiteConfig; readonly store: RecordStore };

async function readSite(directory: string, { config, store, tables, codecs, signal, onProgress, ...options }: Reading) {
  const configured =
    config.sources.length > 0
      ? config.sources
      : [{ name: options.sourceName ?? DEFAULT_SOURCE_NAME, path: directory, ignore: [] }];
  const sources = createSources(configured, {
    workingDirectory: options.workingDirectory ?? directory,
    exposure: config,
    except: [options.stateDirectory, ...(options.except ?? [])].map(realPath),
  });
  deleteObsoleteSources(store, sources.length);
  const content = openContentRecords({ store, tables, sources, codecs });
  const problems = new EntryProblems();
  const onContentProblems = ({ messages, count }: ContentProblems): void => options.onWarnings?.(messages, count);
  const live =
    options.watch && new SiteWatcher({ sources, store, content, problems, onContentProblems, ...options.watch });
  try {
    const { observerOf, late } = live ?? {};
    const scanned = await scanSources({ sources, store, content, problems, signal, onProgress, observerOf, late });
    const [failure] = scanned.failures;
    if (failure && scanned.failures.length === sources.length) throw failure.error;
    for (const { source } of scanned.failures) deleteSourceRecords(store, source, tables);
    const listProblems = (): SiteProblem[] => [...problems.list(), ...content.problems()];
    return { ...scanned, live, content, listProblems };
  } catch (error) {
    live?.close();
    void content.close();
    throw error;
  }
}

/** Resolves the links in a path; returns the absolute path itself if it does not exist. */
function realPath(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : path.resolve(folder);
}

/** Names the database of a site, as several sites may share a state folder. */
function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
