import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import { convertStorageFault, type SharedFiles } from '@trellis/core/storage';
import type { StatementWatch } from '@trellis/core/telemetry';
import { type ImagesOptions, openImages } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';
import { listCodecs, type SiteSchemaOptions } from '@trellis/site/graphql/site-schema';
import { listFormatWarnings, readStoredQueries, type StoredQuery } from '@trellis/site/graphql/stored-queries';
import { type FetchFile, openPublicFiles, type PublicFiles } from '@trellis/site/public-files';
import { createFormatDate } from '@trellis/site/query/dates';
import type { RecordChange } from '@trellis/site/record-changes';
import {
  openCopiedRecords,
  openSite,
  type ReadableSite,
  recordsDigest,
  type Site,
  type SiteOptions,
  type SiteWatchOptions,
} from '@trellis/site/site';
import type { SourceModules } from '@trellis/site/sources/source-modules';
import {
  formatChange,
  formatSourceRun,
  formatWarnings,
  openScanTerminal,
  type ScanOutput,
} from '@trellis/site/terminal';
import type { SiteChange } from '@trellis/site/watch/site-watcher';
import type { Config } from '../config/config.js';
import type { WorkAhead } from './ahead.js';
import { createImageSources, prepareSitePreviews, type SitePreviews } from './images.js';
import type { IndexProgress } from './index/index-head.js';
import type { IndexPublisher } from './index/publisher.js';
import { openMarkdown, prepareSiteTexts } from './markdown.js';
import {
  findMissingResolvers,
  listEmptyTypes,
  loadSiteSchema,
  loadSourceModules,
  readSourceVariable,
} from './schema.js';
import type {
  ImageService,
  OpenSite,
  PreviewCounts,
  SharedSite,
  SharingSiteService,
  SiteReport,
  SiteState,
  SiteWork,
} from './service.js';

/** The lines of the log that a site writes. */
type SiteLog = Readonly<Record<'error' | 'info' | 'warn', (line: string) => void>>;

export interface SiteServiceOptions {
  readonly log: SiteLog;
  /** Shows the progress of a long scan, and warnings. */
  readonly terminal: ScanOutput;
  /** Receives slow statements of queries. */
  readonly statements?: StatementWatch;
  /** Aborts a scan. */
  readonly signal?: AbortSignal;
  /** The key that signs image links. */
  readonly linkKey?: ImagesOptions['linkKey'];
  readonly signer?: ImagesOptions['signer'];
  /** Derived images and public copies that several servers share. */
  readonly sharedFiles?: SharedFiles;
  /** Reads the content of files from a bucket, because the site's folder is on another server. */
  readonly fetchFile?: FetchFile;
  /** Claims the bucket that the index is published to; absent for none. */
  readonly openPublisher?: () => Promise<IndexPublisher>;
  /** Rejects for a site that cannot be served, such as one with invalid stored queries. */
  readonly checkSite?: (open: OpenSite) => Promise<void>;
  /** The number of cores that rendering may use; by default all. */
  readonly parallelism?: number;
  /** Called when {@link SharingSiteService.share} changes: as a whole, or its records only, with their change. */
  readonly onShared?: (what: 'records' | 'site', change?: RecordChange) => void;
}

/** The time between two attempts to open a site: short enough that a repaired site is available almost at once. */
const RETRY_MS = 5_000;

export const STARTING = 'The site is still being scanned. Retry shortly.';

/** Starts to open the configured site. */
export function startSite(config: Config, options: SiteServiceOptions): SharingSiteService {
  return new RetryingSite(config, options);
}

class RetryingSite implements SharingSiteService {
  state: SiteState = { status: 'starting', reason: STARTING };
  /** Present while the state is open. */
  #site: Site | undefined;
  readonly firstAttempt: Promise<OpenSite>;
  readonly #config: Config;
  readonly #options: SiteServiceOptions;
  readonly #stop = new AbortController();
  #publisher: IndexPublisher | undefined;
  #previews: SitePreviews | undefined;
  #texts: WorkAhead | undefined;
  #attempt: Promise<unknown>;
  #timer: NodeJS.Timeout | undefined;
  #lastMessage: string | undefined;
  #wasOpen = false;

  constructor(config: Config, options: SiteServiceOptions) {
    this.#config = config;
    this.#options = options;
    this.firstAttempt = this.#open();
    this.#attempt = this.firstAttempt.catch((error: unknown) => this.#retryAfter(error));
  }

  #changeState(state: SiteState): void {
    this.state = state;
    this.#options.onShared?.('site');
  }

  report(details: boolean): SiteReport {
    return withIndexAge(reportSite(this.state, details), this.index);
  }

  get index(): IndexProgress | undefined {
    return this.#publisher?.progress;
  }

  countWork(): SiteWork {
    return countSiteWork(this.state);
  }

  countPreviews(): PreviewCounts | undefined {
    return this.#previews?.count();
  }

  share(): SharedSite {
    if (!('open' in this.state) || this.#site === undefined)
      return this.state as Exclude<SiteState, { open: OpenSite }>;
    const site = this.#site;
    const { file, config, summary, store } = site;
    const { storedQueries } = this.state.open;
    return {
      status: 'open',
      file,
      config,
      summary,
      storedQueries,
      directory: this.#config.site,
      changedAt: store.changedAt,
      problems: site.problems(),
    };
  }

  makeIndex(key: string): void {
    this.#site?.store.makeIndex(key);
  }

  readDigest(pending: string): void {
    const digest = this.#site?.readDigest(pending);
    // The process that asked finds the result in the records.
    if (digest instanceof Promise) digest.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#attempt;
    if (!('open' in this.state)) return;
    const { imaging, markdown } = this.state.open;
    this.#closeAhead();
    await this.#publisher?.close();
    await markdown.close();
    await imaging.images.close();
    this.#site?.close();
  }

  async #open(): Promise<OpenSite> {
    const { state } = this.#config;
    const { log, terminal, signal } = this.#options;
    const watch = {
      onChange: (change: SiteChange) => log.info(formatChange(change)),
      onProblem: (problem: string) => log.warn(problem),
    };
    const { project } = this.#config;
    const [schema, modules] = await Promise.all([loadSiteSchema(project), loadSourceModules(project)]);
    const publisher = await this.#options.openPublisher?.();
    const site = await openSiteFromConfig(this.#config, {
      schema,
      modules: {
        modules,
        variable: readSourceVariable,
        onChange: (change) => log.info(formatSourceRun(change)),
        onProblem: (problem) => log.warn(problem),
      },
      recordsDirectory: join(state, 'site'),
      terminal,
      statements: this.#options.statements,
      signal: signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal,
      watch: this.#config.watch ? watch : undefined,
      onDamage: (error) => this.replaceDamaged(error),
      onCommit: (change) => this.#options.onShared?.('records', change),
      onRecorded: publisher && ((change) => publisher.note(change)),
    }).catch(async (error: unknown) => {
      await publisher?.close();
      throw error;
    });
    let imaging: ImageService | undefined;
    try {
      imaging = openImageService(site, this.#config, toImageOptions(this.#options));
      const storedQueries = await readAllowedQueries(this.#config, site);
      const open = {
        site,
        schema,
        imaging,
        markdown: openMarkdown(site, {
          imaging,
          directory: this.#config.site,
          cacheDirectory: join(state, 'site'),
          warn: (line) => log.warn(line),
        }),
        storedQueries,
        formatDate: createFormatDate({ dialect: site.config.dates }),
      };
      await this.#options.checkSite?.(open);
      const warning = findMissingResolvers(schema);
      if (warning !== undefined) log.warn(warning);
      for (const empty of listEmptyTypes(schema, site.store.countRecords(), this.#config.site)) log.info(empty);
      this.#site = site;
      this.#changeState({ open });
      this.#publish(publisher, { schema, modules });
      this.#texts = prepareSiteTexts(open, log);
      // A site that restricts its image arguments may not allow these previews.
      if (this.#config.imagePreviews && !storedQueries) this.#previews = prepareSitePreviews(open, log);
      void this.#warnOfFormats(site, storedQueries);
      return open;
    } catch (error) {
      await imaging?.images.close();
      await publisher?.close();
      site.close();
      throw error;
    }
  }

  #closeAhead(): void {
    this.#previews?.close();
    this.#texts?.close();
    this.#previews = undefined;
    this.#texts = undefined;
  }

  #publish(
    publisher: IndexPublisher | undefined,
    { schema: { tables }, modules }: Pick<OpenSite, 'schema'> & { readonly modules: SourceModules },
  ): void {
    this.#publisher = publisher;
    const [site, shared] = [this.#site, this.share()];
    if (publisher === undefined || site === undefined || shared.status !== 'open') return;
    const { config, summary, storedQueries, directory, file } = shared;
    const schema = { tables, modules };
    publisher.start({
      store: site.store,
      file,
      schema: recordsDigest(schema),
      description: { config, summary, storedQueries, directory },
      problems: () => site.problems(),
      openCopy: (copy) => openCopiedRecords({ ...schema, file: copy }),
    });
  }

  /** Does not delay the start, because a glob of stored queries may search the whole site. */
  async #warnOfFormats({ config }: ReadableSite, known: readonly StoredQuery[] | undefined): Promise<void> {
    if (config.dates !== 'auto') return;
    const { log } = this.#options;
    try {
      const queries = known ?? (await readStoredQueries(this.#config.site, config.queries));
      for (const warning of listFormatWarnings(queries)) log.warn(warning);
    } catch (error) {
      log.warn(`The stored queries could not be read: ${toText(error)}`);
    }
  }

  /** Opens the site again with new records. */
  replaceDamaged(error: unknown): void {
    // Several queries may find the damage, and it may be found before the site is open.
    if (!('open' in this.state) || this.#stop.signal.aborted) return;
    const { imaging, markdown } = this.state.open;
    const site = this.#site;
    this.#site = undefined;
    this.#changeState({
      status: 'unavailable',
      reason: 'The records of the site were damaged and are made again.',
    });
    this.#wasOpen = true;
    this.#options.log.error(`The records of the site are damaged and made again: ${String(error)}`);
    this.#closeAhead();
    const publisher = this.#publisher;
    this.#publisher = undefined;
    const replace = async (): Promise<void> => {
      await publisher?.close();
      await markdown.close();
      await imaging.images.close();
      site?.discard();
      const { site: opened } = await this.#open();
      this.#sayOpen(opened);
    };
    // The query that found the damage has to end before its database is closed.
    this.#attempt = pause()
      .then(replace)
      .catch((again: unknown) => this.#retryAfter(again));
  }

  #retryAfter(thrown: unknown): void {
    const error = convertStorageFault(thrown);
    const isOver = this.#stop.signal.aborted || this.#options.signal?.aborted;
    if (isOver || !(this.#isBesideOthers || this.#wasOpen)) return;
    this.#changeState({ status: 'unavailable', reason: toPublicReason(error) });
    const message = toText(error);
    if (message !== this.#lastMessage) {
      const line = `TRELLIS_SITE (${this.#config.site}): ${message}`;
      this.#options.log.error(`${line} Retrying every ${RETRY_MS / 1000} seconds.`);
    }
    this.#lastMessage = message;
    this.#timer = setTimeout(() => {
      this.#attempt = this.#open().then(
        ({ site }) => this.#sayOpen(site),
        (again: unknown) => this.#retryAfter(again),
      );
    }, RETRY_MS).unref();
  }

  /** If the site is the only service, the process ends instead, and its supervisor decides whether to restart it. */
  get #isBesideOthers(): boolean {
    return this.#config.services.length > 1;
  }

  #sayOpen({ summary }: ReadableSite): void {
    this.#options.log.info(`The site is available again: ${summary.files.toLocaleString('en')} files.`);
  }
}

/** Describes the state of a site for probes and pages. */
export function reportSite(state: SiteState, details: boolean): SiteReport {
  if (!('open' in state)) return state;
  const { entries, count } = state.open.site.problems();
  return { status: 'ok', problemCount: count, ...(details && { problems: entries }) };
}

/** Adds the age of the index that a server publishes or follows. */
export function withIndexAge(report: SiteReport, { ageSeconds }: Partial<IndexProgress> = {}): SiteReport {
  const isKnown = report.status === 'ok' && ageSeconds !== undefined;
  return isKnown ? { ...report, indexAgeSeconds: Math.round(ageSeconds) } : report;
}

/** Returns what a site does in the background, in this process. */
export function countSiteWork(state: SiteState): SiteWork {
  const images = { running: 0, waiting: 0 };
  if (!('open' in state)) return { status: state.status, records: 0, changedAt: undefined, problems: 0, images };
  const { site, imaging } = state.open;
  return {
    status: 'ok',
    records: Object.values(site.store.countRecords()).reduce((sum, count) => sum + count, 0),
    changedAt: site.store.changedAt,
    problems: site.problems().count,
    images: imaging.images.countJobs(),
  };
}

/** Selects the options of a site for its images. */
export function toImageOptions({
  log,
  linkKey,
  signer,
  sharedFiles,
  fetchFile,
  parallelism,
}: SiteServiceOptions): ImageServiceOptions {
  const onDamage = (name: string): void => log.warn(`Making ${name} again, as it was damaged.`);
  return { linkKey, signer, sharedFiles, fetchFile, onDamage, ...(parallelism && { renderer: { parallelism } }) };
}

/** Reads the stored queries, if the configuration of the site restricts images to them. */
async function readAllowedQueries(
  { site: folder }: Config,
  { config }: ReadableSite,
): Promise<StoredQuery[] | undefined> {
  return config.imageRecipes === 'stored' ? readStoredQueries(folder, config.queries) : undefined;
}

const toText = (error: unknown): string => (error instanceof AppError ? error.message : String(error));

/** The codes of errors of the site's folder and of the storage. */
const PUBLIC_CODES: ReadonlySet<string> = new Set(['unavailable', 'unprocessable']);

/** Hides messages that may quote the configuration or contain paths. Only the server's log has those. */
function toPublicReason(error: unknown): string {
  if (error instanceof AppError && PUBLIC_CODES.has(error.code)) return error.message;
  const isConfigured = error instanceof AppError && error.code === 'invalid_input';
  return `The site can't be served: ${isConfigured ? 'its configuration is not valid' : 'it could not be opened'}. The server's log has the reason.`;
}

interface SiteDataOptions {
  readonly schema: SiteSchemaOptions;
  /** The folder of the site's records. Every process needs its own. */
  readonly recordsDirectory: string;
  /** The terminal that shows warnings and the progress of a long scan; absent for none. */
  readonly terminal?: ScanOutput;
  /** Aborts a scan. */
  readonly signal?: AbortSignal;
  readonly watch?: SiteWatchOptions;
  /** The sources of records in code; absent to leave their records as they are. */
  readonly modules?: SiteOptions['modules'];
  readonly statements?: StatementWatch;
  /** Called when the records of the open site are found damaged. */
  readonly onDamage?: (error: unknown) => void;
  readonly onCommit?: SiteOptions['onCommit'];
  readonly onRecorded?: SiteOptions['onRecorded'];
}

type ImageServiceOptions = Pick<
  ImagesOptions,
  'linkKey' | 'onDamage' | 'onLink' | 'renderer' | 'sharedFiles' | 'signer'
> &
  Pick<SiteServiceOptions, 'fetchFile'>;

/**
 * Opens the configured site and brings its records up to date.
 *
 * @throws AppError `invalid_input` for the address of an index.
 */
export async function openSiteFromConfig(
  { site, siteIndex, state, configFiles }: Pick<Config, 'configFiles' | 'site' | 'siteIndex' | 'state'>,
  { schema: { tables, resolvers }, recordsDirectory, terminal, ...options }: SiteDataOptions,
): Promise<Site> {
  if (siteIndex !== undefined) {
    throw new AppError('invalid_input', 'Expected a folder; the address of an index has no files to read');
  }
  const view = terminal && (await openScanTerminal(terminal));
  try {
    return await openSite({
      directory: site,
      stateDirectory: recordsDirectory,
      except: [state, ...configFiles],
      tables,
      codecs: listCodecs(resolvers),
      onWarnings: (messages, count) => terminal?.write(formatWarnings(messages, count)),
      onProgress: (progress) => view?.show(progress),
      ...options,
    });
  } finally {
    view?.stop();
  }
}

/** Opens the images of a site. Several processes may share the images of one state folder. */
export function openImageService(
  { store, config: { pathPrefix } }: Pick<ReadableSite, 'config' | 'store'>,
  { state, imagesQuota, imagePixels: maxPixels }: Pick<Config, 'imagePixels' | 'imagesQuota' | 'state'>,
  { fetchFile, ...options }: ImageServiceOptions,
): ImageService {
  const pictures = createImageSources(store);
  const images = openImages({
    stateDirectory: state,
    findSource: pictures.find,
    prefix: pathPrefix,
    quotaBytes: imagesQuota,
    ...(fetchFile && { openSource: (source) => copySource(source, publicFiles) }),
    ...options,
    renderer: { ...options.renderer, maxPixels },
  });
  const publicFiles: PublicFiles = openPublicFiles({
    pathPrefix,
    store: images.store,
    findFile: pictures.find,
    signer: options.signer,
    fetchFile,
  });
  return { pictures, images, publicFiles, signer: options.signer };
}

/** Returns the source of an image with the path of its copy, which is made from the bucket unless it exists. */
async function copySource(source: ImageSource, publicFiles: PublicFiles): Promise<ImageSource> {
  const file = await publicFiles.publish(source);
  if (file === undefined)
    throw new AppError('not_found', `${JSON.stringify(source.relativePath)} is no longer in the site.`);
  const { mtimeMs } = await stat(file.absolutePath);
  return { ...source, absolutePath: file.absolutePath, mtimeMs };
}
