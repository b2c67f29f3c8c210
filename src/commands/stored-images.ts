import { join } from 'node:path';
import type { DerivedImage } from '@trellis/images/plan/links';
import type { ResolverBudget } from '@trellis/site/graphql/context';
import { buildExecutableSchema } from '@trellis/site/graphql/site-schema';
import { readStoredQueries, type StoredQuery } from '@trellis/site/graphql/stored-queries';
import { createFormatDate } from '@trellis/site/query/dates';
import type { ReadableSite } from '@trellis/site/site';
import { formatWarnings } from '@trellis/site/terminal';
import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
} from 'graphql';
import type { Config } from '../config/config.js';
import { StartupError, toStartupError } from '../config/startup-error.js';
import { createSiteContext, type SiteContext } from '../resolvers/context.js';
import { ALLOW_ALL, getOperation, parseStoredQuery } from '../resolvers/stored-arguments.js';
import { openMarkdown } from '../site-data/markdown.js';
import { loadSiteSchema, loadSourceModules, readSourceVariable } from '../site-data/schema.js';
import type { ImageService, MarkdownService, OpenSite } from '../site-data/service.js';
import { openImageService, openSiteFromConfig } from '../site-data/start-site.js';
import { openStateFolder } from '../storage/state-folder.js';
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
  /** The key that signs image links; random if absent. */
  readonly linkKey?: Uint8Array;
  /** Called with each complete response of a query. */
  readonly onResponse?: (response: StoredResponse) => void;
}

/** The response of a stored query for one set of variables and one page. */
export interface StoredResponse {
  readonly query: StoredQuery;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables of the first page, as they are stored with the query. */
  readonly stored: Readonly<Record<string, unknown>>;
  /** The number of the page, counted from 1. */
  readonly page: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The images that the stored queries of a site request. */
export interface StoredImages {
  readonly imaging: ImageService;
  readonly siteConfig: ReadableSite['config'];
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
    const { project } = config;
    const schema = await loadSiteSchema(project);
    const modules = {
      modules: await loadSourceModules(project),
      variable: readSourceVariable,
      onProblem: (problem: string) => terminal.write(formatWarnings([problem])),
    };
    const site = await openSiteFromConfig(config, { schema, modules, recordsDirectory, terminal, signal });
    try {
      await site.firstRuns;
      const queries = await loadQueries(config.site, site.config.queries);
      return await runQueries({ site, schema, recordsDirectory }, queries, options, use);
    } finally {
      site.close();
    }
  } finally {
    folder.close();
  }
}

function throwAlreadyRunning(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'StateFolderError') throw error;
  throw new StartupError('`trellis images` or `trellis export` is already running on this state folder');
}

async function loadQueries(site: string, glob: string): Promise<StoredQuery[]> {
  const queries = await readStoredQueries(site, glob);
  if (queries.length > 0) return queries;
  throw new StartupError(`No stored queries found: no file matches ${glob} in ${site}`);
}

interface QueriedSite extends Pick<OpenSite, 'schema' | 'site'> {
  /** The folder of the records and of rendered texts, which the next run finds there. */
  readonly recordsDirectory: string;
}

async function runQueries(
  { site, schema: parts, recordsDirectory }: QueriedSite,
  queries: readonly StoredQuery[],
  { config, terminal, signal, quiet, linkKey, onResponse }: ImagesCommandOptions,
  use: (stored: StoredImages) => Promise<number>,
): Promise<number> {
  const schema = buildExecutableSchema(parts);
  const documents = queries.map((query) => ({ query, document: addPageInfo(parseStoredQuery(schema, query)) }));
  const links: DerivedImage[] = [];
  const imaging = openImageService(site, config, { linkKey, onLink: (image) => links.push(image) });
  const markdown = openMarkdown(site, {
    imaging,
    directory: config.site,
    cacheDirectory: recordsDirectory,
    warn: (line) => terminal.write(formatWarnings([line])),
  });
  const progress = await openProgressBar(terminal, { quiet, items: 'queries' });
  const failures: QueryFailure[] = [];
  try {
    for (const [index, each] of documents.entries()) {
      const contextOf = (): SiteContext => createContext(site, imaging, markdown);
      failures.push(...(await runStoredQuery({ ...each, schema, contextOf, signal, onResponse })));
      progress.show(index + 1, documents.length);
    }
    progress.stop();
    return await use({ imaging, siteConfig: site.config, links, queries: queries.length, failures });
  } finally {
    progress.stop();
    await markdown.close();
    await imaging.images.close();
  }
}

function createContext({ store, config }: ReadableSite, imaging: ImageService, markdown: MarkdownService): SiteContext {
  const formatDate = createFormatDate({ dialect: config.dates });
  return createSiteContext({ records: store, formatDate, imagePolicy: ALLOW_ALL, markdown, ...imaging }, UNBOUNDED);
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

/** The reason for a missing part of a response. */
export interface QueryFailure {
  readonly message: string;
  /** The code of an `AppError`; absent for other failures. */
  readonly code: string | undefined;
}

interface StoredQueryRun {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly query: StoredQuery;
  readonly contextOf: () => SiteContext;
  readonly signal: AbortSignal;
  readonly onResponse: ImagesCommandOptions['onResponse'];
}

/** Runs a query with each of its variable sets, for every page; returns the failures. */
async function runStoredQuery(run: StoredQueryRun): Promise<QueryFailure[]> {
  const failures: QueryFailure[] = [];
  for (const variables of run.query.variables) {
    let skip: number | undefined = findFirstOffset(run, variables);
    for (let page = 1; skip !== undefined; page += 1) {
      run.signal.throwIfAborted();
      const values = skip === 0 ? variables : { ...variables, skip };
      const { data, errors = [] } = await runPage(run, values);
      for (const error of errors) failures.push(toFailure(run.query.file, error));
      skip = findNextOffset(data, skip);
      if (data && errors.length === 0)
        run.onResponse?.({ query: run.query, variables: values, stored: variables, page, data: withoutPage(data) });
    }
  }
  return failures;
}

async function runPage({ schema, document, contextOf }: StoredQueryRun, variableValues: object) {
  const args = { schema, document, variableValues: variableValues as Record<string, unknown> };
  return execute({ ...args, contextValue: contextOf() });
}

function toFailure(file: string, { message, path = [], originalError }: GraphQLError): QueryFailure {
  const code = originalError && 'code' in originalError ? String(originalError.code) : undefined;
  const isExpected = originalError?.name === 'AppError' || originalError === undefined;
  // Twenty images of one corrupt file fail alike, so the path of the first would mislead.
  return { message: `${file}: ${isExpected ? message : `${path.join('.')}: ${message}`}`, code };
}

const PAGE = 'trellisPage';

const PAGE_INFO = getOperation(parse(`{ ${PAGE}: pageInfo { hasNextPage perPage } }`)).selectionSet;

/** Adds the page info to a top-level connection with `skip: $skip`. */
function addPageInfo(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
    const selections = definition.selectionSet.selections.map((selection) =>
      selection.kind === Kind.FIELD && isPaged(selection) ? withPage(selection) : selection,
    );
    return { ...definition, selectionSet: { ...definition.selectionSet, selections } };
  });
  return { ...document, definitions };
}

const isPaged = ({ arguments: args = [] }: FieldNode): boolean =>
  args.some(({ name, value }) => name.value === 'skip' && value.kind === Kind.VARIABLE && value.name.value === 'skip');

function withPage(field: FieldNode): FieldNode {
  const selections = [...(field.selectionSet?.selections ?? []), ...PAGE_INFO.selections];
  return { ...field, selectionSet: { kind: Kind.SELECTION_SET, selections } };
}

/** Returns the offset of the first page, from the variables or their defaults. */
function findFirstOffset({ document }: StoredQueryRun, variables: Readonly<Record<string, unknown>>): number {
  if (typeof variables.skip === 'number') return variables.skip;
  const { variableDefinitions = [] } = getOperation(document);
  const own = variableDefinitions.find(({ variable }) => variable.name.value === 'skip')?.defaultValue;
  return own?.kind === Kind.INT ? Number(own.value) : 0;
}

/** Returns the offset of the next page, from the shortest page that has a successor. */
function findNextOffset(data: ExecutionResult['data'], skip: number): number | undefined {
  const steps = Object.values(data ?? {}).flatMap((value) => {
    const page = (value as Record<string, { hasNextPage: boolean; perPage: number | null }> | null)?.[PAGE];
    return page?.hasNextPage && page.perPage ? [page.perPage] : [];
  });
  return steps.length === 0 ? undefined : skip + Math.min(...steps);
}

/** Returns the data without what {@link addPageInfo} added. */
function withoutPage(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(data).map(([name, value]) => {
    if (typeof value !== 'object' || value === null || !(PAGE in value)) return [name, value] as const;
    const { [PAGE]: _page, ...own } = value as Record<string, unknown>;
    return [name, own] as const;
  });
  return Object.fromEntries(entries);
}
