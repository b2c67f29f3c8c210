import { join } from 'node:path';
import type { Config } from '../config.js';
import type { DerivedImage } from '../images/links.js';
import { createSiteContext } from '../resolvers/context.js';
import type { Budget, SiteContext } from '../resolvers/context.js';
import { buildSiteSchema } from '../resolvers/schema.js';
import { ALLOW_ALL, parseStoredQuery } from '../resolvers/stored-arguments.js';
import { createFormatDate } from '../site/dates.js';
import type { Site } from '../site/site.js';
import { readStoredQueries } from '../site/stored-queries.js';
import type { StoredQuery } from '../site/stored-queries.js';
import { openConfiguredSite, openImaging } from '../site-data.js';
import type { Imaging } from '../site-data.js';
import { StartError, toStartError } from '../start-error.js';
import { openStateFolder } from '../storage/state-folder.js';
import { askStoredQuery, withPages } from './ask-stored-query.js';
import type { QueryFailure } from './ask-stored-query.js';
import { openProgress } from './progress.js';

export interface ImagesCommandOptions {
  readonly config: Config;
  /** Stops the work; what is done stays. */
  readonly signal: AbortSignal;
  /** Where progress is shown, and what failed is told. */
  readonly terminal: NodeJS.WriteStream;
  /** Only failures are told. */
  readonly quiet: boolean;
  readonly print: (line: string) => void;
}

/** What the stored queries of a site ask for. */
export interface StoredImages {
  readonly imaging: Imaging;
  /** Every image that an answer links to; some more than once. */
  readonly links: readonly DerivedImage[];
  readonly queries: number;
  readonly failures: readonly QueryFailure[];
}

/**
 * Asks a site its stored queries, by the resolvers that the server has. The
 * records are read into a folder of their own, for a server that runs has
 * those of the state folder to itself; the images are shared with it.
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
    if (!signal.aborted) throw toStartError(error, config);
    print('Stopped. What is done stays: the next run goes on from there.');
    return INTERRUPTED;
  }
}

/** What shells give for SIGINT. */
const INTERRUPTED = 130;

async function open(options: ImagesCommandOptions, use: (stored: StoredImages) => Promise<number>): Promise<number> {
  const { config, terminal, signal } = options;
  const recordsDirectory = join(config.state, 'commands');
  const folder = await openStateFolder(recordsDirectory).catch(refuseSecond);
  try {
    const site = await openConfiguredSite(config, { recordsDirectory, terminal, signal });
    try {
      const queries = await requireQueries(config.site, site.config.queries);
      return await askAll(site, queries, options, use);
    } finally {
      site.close();
    }
  } finally {
    folder.close();
  }
}

function refuseSecond(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'StateFolderError') throw error;
  throw new StartError('expected one `trellis images` at a time; another is at work on this state folder');
}

async function requireQueries(site: string, glob: string): Promise<StoredQuery[]> {
  const queries = await readStoredQueries(site, glob);
  if (queries.length > 0) return queries;
  throw new StartError(`expected stored queries, files that match ${glob} in ${site}; found none`);
}

async function askAll(
  site: Site,
  queries: readonly StoredQuery[],
  { config, terminal, signal, quiet }: ImagesCommandOptions,
  use: (stored: StoredImages) => Promise<number>,
): Promise<number> {
  const schema = buildSiteSchema();
  const asked = queries.map((query) => ({ query, document: withPages(parseStoredQuery(schema, query)) }));
  const links: DerivedImage[] = [];
  const imaging = openImaging(site, config, { onLink: (image) => links.push(image) });
  const progress = openProgress(terminal, { quiet, what: 'queries' });
  const failures: QueryFailure[] = [];
  try {
    for (const [index, question] of asked.entries()) {
      const contextOf = (): SiteContext => createContext(site, imaging);
      failures.push(...(await askStoredQuery({ ...question, schema, contextOf, signal })));
      progress.show(index + 1, asked.length);
    }
    progress.stop();
    return await use({ imaging, links, queries: queries.length, failures });
  } finally {
    progress.stop();
    await imaging.images.close();
  }
}

function createContext({ store, config }: Site, imaging: Imaging): SiteContext {
  const formatDate = createFormatDate({ dialect: config.dates });
  return createSiteContext({ records: store, formatDate, imagePolicy: ALLOW_ALL, ...imaging }, UNBOUNDED);
}

/** The site's own queries may ask for all of it. */
const UNBOUNDED: Budget = {
  isOver: false,
  spend: () => undefined,
  check: () => undefined,
  statementMs: Infinity,
  nextTurn: () => Promise.resolve(),
  work: (piece) => piece(),
  workInTurn: (piece) => piece(),
};
