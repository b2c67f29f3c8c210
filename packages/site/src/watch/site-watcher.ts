import { AppError } from '@trellis/core/errors';
import { findStorageFault } from '@trellis/core/storage';
import type { RecordStore } from '../record-store.js';
import { type ContentProblems, type ContentRecords, PositionsExhaustedError } from '../sources/content/content.js';
import { LargeFileDigests } from '../sources/digests/large-file-digests.js';
import { TIMESTAMP_GRANULARITY_MS } from '../sources/entries.js';
import { type EntryProblems, formatProblem, type SiteProblem } from '../sources/problems.js';
import { recordWatchedUpdate } from '../sources/scan-plan.js';
import { scanSources } from '../sources/scan-source.js';
import type { SiteSource } from '../sources/site-sources.js';
import type { WalkObserver } from '../sources/walk.js';
import { applyChanges, type ChangeCounts, RescanRequiredError, WATCH_DELAY_MS } from './apply-changes.js';
import { OverflowDetector, WatchedSource } from './watched-source.js';

export interface SiteChange extends ChangeCounts {
  readonly milliseconds: number;
}

export interface SiteWatcherCallbacks {
  /** Called when queries see a change. */
  readonly onChange?: (change: SiteChange) => void;
  /** Called once with a sentence when changes can't be watched or were missed. */
  readonly onProblem?: (message: string) => void;
  /** Called with the invalid values of the files that were read. */
  readonly onContentProblems?: (problems: ContentProblems) => void;
}

export interface SiteWatcherOptions extends SiteWatcherCallbacks {
  readonly sources: readonly SiteSource[];
  readonly store: RecordStore;
  readonly content: ContentRecords;
  /** Updated with every change. */
  readonly problems: EntryProblems;
}

/** The quiet time after which changes are examined: saving a file causes several events. */
const QUIET_MS = 40;

/** The maximum delay during continuous changes, so that the first of them is visible within a second. */
const LONGEST_MS = 600;

/** The interval of the check that the sources' folders still exist, which the system does not report. */
const CHECK_MS = 1000;

/** The interval of scans where watching or reading failed, and of retries of skipped entries. */
const POLL_MS = 10_000;

/** The number of skipped entries that one update lists; further ones are only counted. */
const MAX_LINES = 20;

/** The time after an update until the next start can trust everything that the update read. */
const SETTLE_MS = TIMESTAMP_GRANULARITY_MS + 1500;

/** Watches the sources of a site, so that queries see changes within a second. */
export class SiteWatcher {
  readonly #options: SiteWatcherOptions;
  readonly #sources: readonly WatchedSource[];
  readonly #stop = new AbortController();
  readonly #check: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #firstMs = 0;
  #lastMs = 0;
  /** During a scan or an update, changes are only collected. */
  #isBusy = true;
  #needsScan = false;
  #pollAtMs = Infinity;
  #retryAtMs = Infinity;
  /** Whether the latest update wrote something that the next start would not trust yet. */
  #isUnsettled = false;
  readonly #missing = new Set<WatchedSource>();
  /** Reads large files in the background and has them examined again afterwards. */
  readonly late = new LargeFileDigests((root, path) => this.#wakeFor(root, path));
  #refusal: string | undefined;
  #failure: string | undefined;

  constructor(options: SiteWatcherOptions) {
    this.#options = options;
    const onLost = (): void => this.#scanFor('Too many changes at once to follow each of them');
    const queue = new OverflowDetector(onLost);
    const onDirty = (): void => this.#wake();
    const onRefused = (path: string, code: string): void => this.#refused(path, code);
    this.#sources = options.sources.map(
      (source) => new WatchedSource({ source, store: options.store, queue, onLost, onDirty, onRefused }),
    );
    this.#check = setInterval(() => this.#checkFolders(), CHECK_MS).unref();
  }

  /** Returns the observer for a scan. Each folder is watched before it is listed, so that no change is missed. */
  observerOf = (source: SiteSource): WalkObserver => {
    const live = this.#sources.find((one) => one.source === source);
    if (live === undefined) throw new Error(`The source ${source.name} is not watched.`);
    return live.reset();
  };

  /** Starts processing changes, including those that were collected during the scan. Call it after the first scan. */
  start(): void {
    this.#isBusy = false;
    this.late.start();
    this.#reportSkipped([]);
    const { problems } = this.#options;
    const hasFailed = this.#sources.some(({ source }) => problems.of(source).some(({ path }) => path === ''));
    if (hasFailed) this.#pollAtMs = performance.now() + POLL_MS;
    if (this.#isDue) this.#wake();
  }

  close(): void {
    this.#stop.abort();
    clearInterval(this.#check);
    clearTimeout(this.#timer);
    clearTimeout(this.#settling);
    void this.late.close();
    for (const live of this.#sources) live.close();
  }

  #wakeFor(root: string, path: string): void {
    for (const live of this.#sources) if (live.source.root === root) live.returnChanges(new Map([[path, false]]));
    this.#wake();
  }

  get #isDue(): boolean {
    return this.#needsScan || this.#sources.some(({ isDirty }) => isDirty);
  }

  #wake(): void {
    this.#lastMs = performance.now();
    if (this.#isBusy || this.#timer || this.#stop.signal.aborted) return;
    this.#firstMs = this.#lastMs;
    this.#timer = setTimeout(() => this.#tick(), QUIET_MS);
  }

  #tick(): void {
    const now = performance.now();
    const wait = Math.min(this.#lastMs + QUIET_MS, this.#firstMs + LONGEST_MS) - now;
    this.#timer = wait > 1 ? setTimeout(() => this.#tick(), wait) : undefined;
    if (this.#timer === undefined) void this.#run();
  }

  async #run(): Promise<void> {
    clearTimeout(this.#settling);
    this.#isBusy = true;
    const isScan = this.#needsScan;
    let again = true;
    try {
      if (isScan) await this.#scan();
      else await this.#pass();
      this.#failure = undefined;
    } catch (error) {
      this.#needsScan ||= isScan;
      again = this.#recover(error);
    }
    this.#isBusy = false;
    if (this.#stop.signal.aborted) return;
    if (again && this.#isDue) this.#wake();
    else if (this.#isUnsettled) this.#settling = setTimeout(() => this.#settle(), SETTLE_MS).unref();
  }

  async #pass(): Promise<void> {
    const started = performance.now();
    const { late } = this;
    const sources = this.#sources.filter(({ isInPlace }) => isInPlace);
    const pass = await applyChanges({ ...this.#options, sources, late, signal: this.#stop.signal });
    this.late.settle();
    const { problems, skipped, ...counts } = pass;
    this.#reportSkipped(skipped);
    this.#isUnsettled = true;
    if (Object.values(counts).some((count) => count > 0)) this.#report(counts, started);
    if (problems.count > 0) this.#options.onContentProblems?.(problems);
  }

  /** Scans all sources, for when the changes are not known. */
  async #scan(): Promise<void> {
    this.#needsScan = false;
    const sources = this.#sources.filter(({ exists }) => exists).map(({ source }) => source);
    const { observerOf, late } = this;
    const { signal } = this.#stop;
    const scanned = await scanSources({ ...this.#options, sources, late, signal, observerOf, atomic: true });
    this.late.settle();
    const { problems, skipped, failures } = scanned;
    const isPolling = this.#refusal !== undefined || failures.length > 0;
    this.#pollAtMs = isPolling ? performance.now() + POLL_MS : Infinity;
    this.#isUnsettled = false;
    this.#reportSkipped(skipped);
    if (problems.count > 0) this.#options.onContentProblems?.(problems);
  }

  #reportSkipped(skipped: readonly SiteProblem[]): void {
    const { onProblem, problems } = this.#options;
    for (const problem of skipped.slice(0, MAX_LINES)) onProblem?.(`Skipped: ${formatProblem(problem)}`);
    const more = skipped.length - MAX_LINES;
    if (more > 0) onProblem?.(`Skipped: ${more.toLocaleString('en')} more.`);
    const canRetry = this.#sources.some(({ source }) => problems.of(source).some(({ isName }) => !isName));
    this.#retryAtMs = canRetry ? performance.now() + POLL_MS : Infinity;
  }

  #report(counts: ChangeCounts, started: number): void {
    this.#options.onChange?.({ ...counts, milliseconds: performance.now() - started });
  }

  /** Returns whether to retry immediately. The records stay those of the last completed update. */
  #recover(error: unknown): boolean {
    if (this.#stop.signal.aborted) return false;
    // A scan reports the source that can't be read and continues with the others.
    const isOfSource = !this.#needsScan && error instanceof AppError;
    if (isOfSource || error instanceof RescanRequiredError || error instanceof PositionsExhaustedError) {
      this.#needsScan = true;
      return true;
    }
    this.#pollAtMs = performance.now() + POLL_MS;
    const message =
      error instanceof AppError ? error.message : `The changes of the site can't be read: ${String(error)}.`;
    if (message !== this.#failure) this.#options.onProblem?.(`${message} The existing records stay available.`);
    this.#failure = message;
    return false;
  }

  #settle(): void {
    this.#isUnsettled = false;
    const untilMs = Date.now() - TIMESTAMP_GRANULARITY_MS - WATCH_DELAY_MS;
    try {
      this.#options.store.write((rows) => {
        for (const { source, isInPlace } of this.#sources) if (isInPlace) recordWatchedUpdate(rows, source, untilMs);
      });
    } catch (error) {
      // On a full disk, the next start reads more files again than it has to.
      if (findStorageFault(error) === undefined) throw error;
    }
  }

  #scanFor(reason: string): void {
    this.#options.onProblem?.(`${reason}; all folders are scanned again.`);
    this.#needsScan = true;
    this.#wake();
  }

  #refused(path: string, code: string): void {
    this.#pollAtMs = performance.now() + POLL_MS;
    if (this.#refusal !== undefined) return;
    this.#refusal = code;
    const hint = code === 'ENOSPC' ? ' (raise the system limit fs.inotify.max_user_watches)' : '';
    const every = `all folders are scanned every ${POLL_MS / 1000} seconds instead`;
    this.#options.onProblem?.(`The folder "${path}" can't be watched: ${code}${hint}; ${every}.`);
  }

  #checkFolders(): void {
    if (this.#isBusy) return;
    for (const live of this.#sources) {
      if (!live.exists) this.#reportMissing(live);
      else if (!live.isInPlace) {
        this.#missing.delete(live);
        this.#scanFor(`The folder ${live.source.directory} was replaced`);
      }
    }
    const now = performance.now();
    if (now >= this.#pollAtMs) this.#needsScan = true;
    if (now >= this.#pollAtMs || now >= this.#retryAtMs) this.#wake();
  }

  #reportMissing(live: WatchedSource): void {
    if (this.#missing.has(live)) return;
    this.#missing.add(live);
    const reason = "can't be found; its records stay as they were";
    this.#options.problems.replace(live.source, [{ path: '', reason, isName: false }]);
    this.#options.onProblem?.(`The folder ${live.source.directory} was not found; its records stay available.`);
  }
}
