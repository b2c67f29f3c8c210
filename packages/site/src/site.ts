import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { ScalarCodecs } from '@trellis/core/record-types';
import { isDamage, moveDamagedAside } from '@trellis/core/storage';
import type { StatementWatch } from '@trellis/core/telemetry';
import { DEFAULT_SOURCE_NAME, loadSiteConfig, type SiteConfig } from './config/site-config.js';
import { writeSiteRecords } from './config/site-records.js';
import type { RecordedChange } from './record-changes.js';
import { openRecordStore, type RecordStore, type RecordStoreOptions } from './record-store.js';
import { type RecordTables, schemaDigest } from './records/record-schema.js';
import { type ContentProblems, openContentRecords } from './sources/content/content.js';
import { type DigestWaits, findPendingFile, toPendingDigest } from './sources/digests/large-file-digests.js';
import { ENTRY_COLUMNS } from './sources/file-records.js';
import { LinkProblems } from './sources/link-problems.js';
import {
  EntryProblems,
  formatProblem,
  type ProblemReport,
  type SiteProblem,
  toProblemReport,
} from './sources/problems.js';
import { type ScanProgress, scanSources, type ScanSummary } from './sources/scan-source.js';
import { createSources, deleteObsoleteSources, deleteSourceRecords } from './sources/site-sources.js';
import {
  markSourceTypes,
  type RunningSourcesOptions,
  runSources,
  type SourceModules,
} from './sources/source-modules.js';
import {
  type FollowedRecords,
  type FollowedRecordsOptions,
  followRecords,
  type SiteRecords,
} from './stored-records.js';
import { SiteWatcher, type SiteWatcherCallbacks } from './watch/site-watcher.js';

/** The part of a site that requests need. A different process may write the records. */
export interface ReadableSite {
  readonly store: SiteRecords;
  readonly config: SiteConfig;
  readonly summary: ScanSummary;
  /** The stored digest may be pending. */
  readonly readDigest: ReadDigest;
  /** Returns the current problems: skipped entries, invalid values, and failing sources. */
  problems(): ProblemReport;
}

export interface Site extends ReadableSite {
  readonly store: RecordStore;
  /** The path of the records, which other processes may read. */
  readonly file: string;
  /** Settles when each source in code has run once. Queries before see the records of earlier starts. */
  readonly firstRuns: Promise<void>;
  /** Settles when the links of all records were checked once, after the first runs. */
  readonly firstCheck: Promise<void>;
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
  /** The sources of records in code, which run once the site is open. */
  readonly modules?: Pick<RunningSourcesOptions, 'modules' | 'onChange' | 'onProblem' | 'variable'>;
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
  /** Called when other processes can read a change of the records, which is described, or of an index. */
  readonly onCommit?: RecordStoreOptions['onCommit'];
  /** Receives the changes of each transaction, for copies of the records. */
  readonly onRecorded?: (change: RecordedChange) => void;
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
  const { tables, onDamage, onCommit, onRecorded, statements: watch } = options;
  const stored = markSourceTypes(tables, options.modules?.modules ?? {});
  const callbacks = { watch, onDamage, onCommit, onRecorded };
  const store = openRecordStore({ file, tables: stored, derived: ENTRY_COLUMNS, ...callbacks });
  try {
    const { summary, problems, skipped, live, content, listProblems } = await readSite(directory, {
      ...options,
      config,
      store,
    });
    const more = await writeSiteRecords(store, { tables, codecs: options.codecs, config, directory });
    const before = [...warnings, ...more, ...skipped.map((problem) => `Skipped: ${formatProblem(problem)}`)];
    const count = before.length + problems.count;
    if (count > 0) options.onWarnings?.([...before, ...problems.messages], count);
    const running = runSources({ ...NO_MODULES, ...options.modules, store, tables, codecs: options.codecs });
    live?.start();
    const indexes = makeIndexes(store, options);
    const links = new LinkProblems({
      ...{ store, tables, directory: options.workingDirectory ?? directory },
      report: (found) => options.onWarnings?.(found.map(formatProblem), found.length),
    });
    const firstCheck = Promise.all([indexes, running.firstRuns]).then(() => links.check());
    const follows = options.watch !== undefined || options.modules !== undefined;
    const checks = follows ? firstCheck.then(() => links.follow()) : firstCheck;
    // Damage is reported by the store itself.
    checks.catch((error: unknown) => {
      if (!isDamage(error)) options.onWarnings?.([`The links of records can't be checked: ${String(error)}`], 1);
    });
    const close = (): void => {
      links.close();
      live?.close();
      void running.close();
      void content.close();
      store.close();
    };
    const discard = (): void => {
      close();
      moveDamagedAside(file);
    };
    const { firstRuns } = running;
    const listAll = (): ProblemReport => toProblemReport([...listProblems(), ...running.problems(), ...links.list()]);
    const readDigest = createDigestReader(store, live?.late);
    return { store, file, config, summary, firstRuns, firstCheck, readDigest, problems: listAll, close, discard };
  } catch (error) {
    store.close();
    throw error;
  }
}

/**
 * Returns the digest of a file, which a large file has only after it was read.
 *
 * @param waitMs The longest wait, in milliseconds; by default as long as it takes.
 */
export type ReadDigest = (digest: string, waitMs?: number) => Promise<string> | string;

/**
 * Creates a function that waits for the digests of large files. All queries for a file share one wait.
 *
 * @param late Has the files read; absent if nothing reads them.
 */
export function createDigestReader(store: SiteRecords, late: DigestWaits | undefined): ReadDigest {
  const once = singleFlight<string>();
  return (digest, waitMs) => {
    const file = findPendingFile(digest);
    if (file === undefined) return digest;
    const result = once(file, () => waitForDigest(file, { store, late }));
    return waitMs === undefined ? result : withinWait(result, waitMs, () => notReadYet(file, late));
  };
}

/** @throws the error that `late` returns when the wait is over. The file is read on. */
async function withinWait<T>(result: Promise<T>, waitMs: number, late: () => AppError): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), waitMs);
  });
  return Promise.race([result, timeout]).finally(() => clearTimeout(timer));
}

const RETRY_SECONDS = { usual: 10, least: 1, most: 600 };

function notReadYet(file: string, late: DigestWaits | undefined): AppError {
  const { bytes = 0, size = 0, elapsedMs = 0 } = late?.progressOf?.(file) ?? {};
  const { usual, least, most } = RETRY_SECONDS;
  const leftSeconds = bytes > 0 ? Math.ceil(((size - bytes) * elapsedMs) / bytes / 1000) : usual;
  const seconds = Math.min(most, Math.max(least, leftSeconds));
  const done = size > 0 ? `, ${Math.floor((100 * bytes) / size)} % so far` : '';
  return new AppError(
    'unavailable',
    `${JSON.stringify(path.basename(file))} is still being read for its digest${done}. Retry in about ${seconds} s.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}

/** @throws AppError `not_found` for a file that was deleted meanwhile; `unavailable` when the site is being closed. */
async function waitForDigest(
  file: string,
  { store, late }: { readonly store: SiteRecords; readonly late: DigestWaits | undefined },
): Promise<string> {
  // The path of a source may contain links, so the records are not found by the path of the file.
  const pending = store.first('File', ['id'], { 'internal.contentDigest': toPendingDigest(file) });
  if (!pending) throw new AppError('unavailable', 'The file was just read. Retry the query.');
  for (;;) {
    if (!late || late.isClosed) throw new AppError('unavailable', 'The file has not been read yet. Retry later.');
    const record = store.first('File', ['internal.contentDigest'], { id: String(pending.id) });
    if (!record) throw new AppError('not_found', 'The file was deleted before it was read.');
    const digest = String(record['internal.contentDigest']);
    if (findPendingFile(digest) === undefined) return digest;
    await late.wait(file);
  }
}

const NO_MODULES: NonNullable<SiteOptions['modules']> = { modules: {}, variable: () => '' };

export interface FollowOptions extends Pick<FollowedRecordsOptions, 'onDamage' | 'requestIndex' | 'tables' | 'watch'> {
  /** The path of the records: {@link Site.file}. */
  readonly file: string;
  /** The sources of records in code, which the other process runs. */
  readonly modules: SourceModules;
}

/** Opens the records of a site that a different process has opened with {@link openSite}. */
export const followSiteRecords = ({ tables, modules, ...options }: FollowOptions): FollowedRecords =>
  followRecords({ ...options, tables: markSourceTypes(tables, modules), derived: ENTRY_COLUMNS });

type CopyOptions = Pick<FollowOptions, 'file' | 'modules' | 'tables'> & Pick<SiteOptions, 'onCommit'>;

/** Opens a copy of the records, to which the changes of the original are applied. */
export function openCopiedRecords({ tables, modules, ...options }: CopyOptions): RecordStore {
  const schema = { tables: markSourceTypes(tables, modules), derived: ENTRY_COLUMNS };
  const store = openRecordStore({ ...options, ...schema });
  void makeIndexes(store, {});
  return store;
}

/** Returns a digest that is equal for servers whose records have the same tables. */
export const recordsDigest = ({ tables, modules }: Pick<FollowOptions, 'modules' | 'tables'>): string =>
  schemaDigest({ tables: markSourceTypes(tables, modules), derived: ENTRY_COLUMNS });

/**
 * Creates the indexes in the background. A failure, for example of a full disk, only leaves queries slow. Damage is
 * reported by the store itself.
 */
function makeIndexes(store: RecordStore, { onWarnings }: Pick<SiteOptions, 'onWarnings'>): Promise<void> {
  return store.createMissingIndexes().catch((error: unknown) => {
    if (isDamage(error)) return;
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
  const content = openContentRecords({ store, tables, sources, aliases: config.aliases, codecs });
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
