import path from 'node:path';
import { setImmediate as pause, setTimeout as delay } from 'node:timers/promises';
import { isDamage } from '@trellis/core/storage';
import { createFormatDate } from '@trellis/site/query/dates';
import { createDigestReader, followSiteRecords } from '@trellis/site/site';
import { type DigestWaits, toPendingDigest } from '@trellis/site/sources/digests/large-file-digests';
import type { ProblemReport } from '@trellis/site/sources/problems';
import type { FollowedRecords } from '@trellis/site/stored-records';
import type { Config } from '../config/config.js';
import { openMarkdown } from '../site-data/markdown.js';
import { loadSiteSchema, loadSourceModules } from '../site-data/schema.js';
import type {
  OpenSite,
  SharedRecords,
  SharedSite,
  SiteReport,
  SiteService,
  SiteState,
  SiteWork,
} from '../site-data/service.js';
import {
  countSiteWork,
  openImageService,
  reportSite,
  type SiteServiceOptions,
  STARTING,
  toImageOptions,
} from '../site-data/start-site.js';
import type { PrimaryLink } from './primary-link.js';

export interface FollowSiteOptions extends SiteServiceOptions {
  readonly primary: Pick<PrimaryLink, 'on' | 'send'>;
}

/** Follows the site of the primary process, which scans and watches it. */
export function followSite(config: Config, options: FollowSiteOptions): SiteService {
  return new FollowedSite(config, options);
}

/** The time between two attempts to open records that the primary process has open. */
const RETRY_MS = 1_000;

class FollowedSite implements SiteService {
  state: SiteState = { status: 'starting', reason: STARTING };
  readonly firstAttempt: Promise<OpenSite>;
  readonly #config: Config;
  readonly #options: FollowSiteOptions;
  readonly #settle: { readonly open: (open: OpenSite) => void; readonly fail: (reason: Error) => void };
  #shared: SharedSite | undefined;
  #opened: OpenRecords | undefined;
  /** The records that are still being closed, and what hastens it. */
  readonly #replaced = new Map<AbortController, Promise<void>>();
  #problems: ProblemReport = { entries: [], count: 0 };
  #changing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(config: Config, options: FollowSiteOptions) {
    this.#config = config;
    this.#options = options;
    const { promise, ...settle } = createAttempt();
    this.firstAttempt = promise;
    this.#settle = settle;
    // The state has the reason of a failure.
    promise.catch(() => undefined);
    options.primary.on('site', ({ site }) => this.#follow(site));
    options.primary.on('records', (records) => this.#refresh(records));
  }

  report(details: boolean): SiteReport {
    return reportSite(this.state, details);
  }

  countWork(): SiteWork {
    return countSiteWork(this.state);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#changing;
    for (const [controller, done] of this.#replaced) {
      controller.abort();
      await done;
    }
    await this.#closeSite({ status: 'unavailable', reason: 'The server is stopping.' });
  }

  /** Changes to the site that the primary process has opened, or closed. */
  #follow(shared: SharedSite): void {
    this.#shared = shared;
    clearTimeout(this.#timer);
    this.#changing = this.#changing.then(() => this.#change(shared));
  }

  async #change(shared: SharedSite): Promise<void> {
    // The next change is already known.
    if (shared !== this.#shared || this.#isClosed) return;
    try {
      if (shared.status === 'open') {
        const before = this.#opened;
        this.#settle.open(await this.#open(shared));
        if (before) this.#closeLater(before);
      } else {
        await this.#closeSite(shared);
        if (shared.status === 'unavailable') this.#settle.fail(new Error(shared.reason));
      }
    } catch (error) {
      this.#options.log.error(`The records of the site can't be opened: ${String(error)}`);
      if (isDamage(error)) this.#reportDamage(error);
      this.#timer = setTimeout(() => this.#follow(shared), RETRY_MS).unref();
    }
  }

  async #open({
    file,
    config,
    summary,
    storedQueries,
    directory,
    ...records
  }: SharedSite & { readonly status: 'open' }) {
    const { primary, statements: watch } = this.#options;
    const { project } = this.#config;
    const [schema, modules] = await Promise.all([loadSiteSchema(project), loadSourceModules(project)]);
    const store = followSiteRecords({
      file,
      tables: schema.tables,
      modules,
      watch,
      onDamage: (error) => this.#reportDamage(error),
      requestIndex: (key) => primary.send({ kind: 'index', key }),
    });
    store.refresh(records.changedAt);
    const digests = new PrimaryDigests(primary);
    const readDigest = createDigestReader(store, digests);
    const site = { store, config, summary, readDigest, problems: (): ProblemReport => this.#problems };
    const imaging = openImageService(site, this.#config, toImageOptions(this.#options));
    const formatDate = createFormatDate({ dialect: config.dates });
    const markdown = openMarkdown(site, {
      imaging,
      directory,
      cacheDirectory: path.dirname(file),
      warn: (line) => this.#options.log.warn(line),
    });
    const open: OpenSite = { site, schema, imaging, markdown, storedQueries, formatDate };
    // Requests that arrive from now on read the new records; there is no moment without any.
    this.#opened = { open, records: store, digests };
    this.#problems = records.problems;
    this.state = { open };
    return open;
  }

  #refresh({ changedAt, problems, change }: SharedRecords): void {
    this.#problems = problems;
    try {
      this.#opened?.records.refresh(changedAt, change);
      this.#opened?.digests.settle();
      if (change) this.#opened?.records.changes.publish(change);
    } catch (error) {
      this.#options.log.error(`The records of the site can't be read: ${String(error)}`);
      if (isDamage(error)) this.#reportDamage(error);
    }
  }

  #reportDamage(error: unknown): void {
    this.#options.primary.send({ kind: 'damage', reason: String(error) });
  }

  async #closeSite(state: SiteState): Promise<void> {
    const before = this.#opened;
    this.#opened = undefined;
    this.state = state;
    // Queries that have begun have to end first.
    await pause();
    if (before) await close(before);
  }

  /** Closes records that were replaced, once no query can read them any longer. */
  #closeLater(before: OpenRecords): void {
    const controller = new AbortController();
    const done = delay(this.#config.queryTimeoutMs + 1_000, undefined, { signal: controller.signal, ref: false })
      .catch(() => undefined)
      .then(() => close(before))
      .finally(() => this.#replaced.delete(controller));
    this.#replaced.set(controller, done);
  }
}

/** Has large files read by the primary process, which changes the records then. */
class PrimaryDigests implements DigestWaits {
  readonly #primary: Pick<PrimaryLink, 'send'>;
  #waiting: (() => void)[] = [];
  isClosed = false;

  constructor(primary: Pick<PrimaryLink, 'send'>) {
    this.#primary = primary;
  }

  wait(file: string): Promise<void> {
    this.#primary.send({ kind: 'digest', pending: toPendingDigest(file) });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all waits, after the records have changed. */
  settle(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  close(): void {
    this.isClosed = true;
    this.settle();
  }
}

/** An open site, and its records. */
interface OpenRecords {
  readonly open: OpenSite;
  readonly records: FollowedRecords;
  readonly digests: PrimaryDigests;
}

async function close({ open: { markdown, imaging }, records, digests }: OpenRecords): Promise<void> {
  digests.close();
  await markdown.close();
  await imaging.images.close();
  records.close();
}

function createAttempt() {
  let open!: (open: OpenSite) => void;
  let fail!: (reason: Error) => void;
  const promise = new Promise<OpenSite>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}
