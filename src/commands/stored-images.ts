import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { DerivedImage } from '../images/plan/links.js';
import { createSiteContext } from '../resolvers/engine.js';
import type { ResolverBudget, SiteContext } from '../resolvers/context.js';
import { buildSiteSchema } from '../resolvers/schema.js';
import { ALLOW_ALL, parseStoredQuery } from '../resolvers/stored-arguments.js';
import { createFormatDate } from '../site/query/dates.js';
import type { Site } from '../site/site.js';
import { readStoredQueries } from '../site/config/stored-queries.js';
import type { StoredQuery } from '../site/config/stored-queries.js';
import { openSiteFromConfig, openImageService } from '../site-service.js';
import type { ImageService } from '../site-service.js';
import { StartupError, toStartupError } from '../config/startup-error.js';
import { openStateFolder } from '../storage/state-folder.js';
import { runStoredQuery, addPageInfo } from './run-stored-query.js';
import type { QueryFailure } from './run-stored-query.js';
import { openProgressBar } from './progress-bar.js';

export interface ImagesCommandOptions {
  readonly config: Config;
  /** Stops the run; completed work stays. */
  readonly signal: AbortSignal;
  /** The stream for progress and failures. */
  readonly terminal: NodeJS.WriteStream;
  /** Prints failures only. */
  readonly quiet: boolean;
  readonly print: (line: string) => void;
}

/** The images that the stored queries of a site request. */
export interface StoredImages {
  readonly imaging: ImageService;
  /** Every image that a response links to, with duplicates. */
  readonly links: readonly DerivedImage[];
  readonly queries: number;
  readonly failures: readonly QueryFailure[];
}

/**
 * Runs the stored queries of a site with the resolvers of the server. The records are read into a
 * temporary folder, as a running server locks those of the state folder. Images are shared with it.
 *
 * @throws StartError for a site, a query or a state folder that can't be used.
 */
export async function withStoredImages(
  options: ImagesCommandOptions,
  use: (stored: StoredImages) => Promise<number>,
): Promise<number> {
  const { config, signal, print } = options;
  try {
    return await open(options, use);
  } catch (error) {
    if (!signal.aborted) throw toStartupError(error, config);
    print('Stopped. The next run continues from here.');
    return INTERRUPTED;
  }
}

/** The exit code of shells for SIGINT. */
const INTERRUPTED = 130;

async function open(options: ImagesCommandOptions, use: (stored: StoredImages) => Promise<number>): Promise<number> {
  const { config, terminal, signal } = options;
  const recordsDirectory = join(config.state, 'commands');
  const folder = await openStateFolder(recordsDirectory).catch(throwAlreadyRunning);
  try {
    const site = await openSiteFromConfig(config, { recordsDirectory, terminal, signal });
    try {
      const queries = await loadQueries(config.site, site.config.queries);
      return await runQueries(site, queries, options, use);
    } finally {
      site.close();
    }
  } finally {
    folder.close();
  }
}

function throwAlreadyRunning(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'StateFolderError') throw error;
  throw new StartupError('`trellis images` is already running on this state folder');
}

async function loadQueries(site: string, glob: string): Promise<StoredQuery[]> {
  const queries = await readStoredQueries(site, glob);
  if (queries.length > 0) return queries;
  throw new StartupError(`No stored queries found: no file matches ${glob} in ${site}`);
}

async function runQueries(
  site: Site,
  queries: readonly StoredQuery[],
  { config, terminal, signal, quiet }: ImagesCommandOptions,
  use: (stored: StoredImages) => Promise<number>,
): Promise<number> {
  const schema = buildSiteSchema();
  const documents = queries.map((query) => ({ query, document: addPageInfo(parseStoredQuery(schema, query)) }));
  const links: DerivedImage[] = [];
  const imaging = openImageService(site, config, { onLink: (image) => links.push(image) });
  const progress = openProgressBar(terminal, { quiet, items: 'queries' });
  const failures: QueryFailure[] = [];
  try {
    for (const [index, each] of documents.entries()) {
      const contextOf = (): SiteContext => createContext(site, imaging);
      failures.push(...(await runStoredQuery({ ...each, schema, contextOf, signal })));
      progress.show(index + 1, documents.length);
    }
    progress.stop();
    return await use({ imaging, links, queries: queries.length, failures });
  } finally {
    progress.stop();
    await imaging.images.close();
  }
}

function createContext({ store, config }: Site, imaging: ImageService): SiteContext {
  const formatDate = createFormatDate({ dialect: config.dates });
  return createSiteContext({ records: store, formatDate, imagePolicy: ALLOW_ALL, ...imaging }, UNBOUNDED);
}

/** The site's own queries have no limits. */
const UNBOUNDED: ResolverBudget = {
  isOver: false,
  spend: () => undefined,
  check: () => undefined,
  statementMs: Infinity,
  nextTurn: () => Promise.resolve(),
  work: (piece) => piece(),
  workInTurn: (piece) => piece(),
};
