import type { IncomingMessage, RequestListener, Server } from 'node:http';
import {
  createBoundsCheck,
  createHostCheck,
  createSiteGate,
  createStartupListener,
  requestBounds,
  type SiteGate,
} from '@trellis/server/http/admission';
import {
  type AddressLimit,
  type CountExchange,
  createAddressLimit,
  createRateLimiter,
  type RateLimiter,
} from '@trellis/server/http/rate-limits';
import {
  addForwardedAddress,
  type CompletedRequest,
  createRequestTracker,
  getClientAddress,
  type Log,
  nameRequest,
  requestContext,
  tryDecode,
} from '@trellis/server/http/request';
import {
  allowMethods,
  dataHeaders,
  errorHandler,
  notFoundHandler,
  READ_ONLY,
  securityHeaders,
} from '@trellis/server/http/responses';
import { createHttpServer } from '@trellis/server/http/server';
import { type BuiltPages, createPageDataReader, loadBuiltPages } from '@trellis/server/pages/built-pages';
import { type ListedContract, loadApiReference, loadExplorer } from '@trellis/server/pages/developer-pages';
import { contractDocument, contractRouter, rejectUnknownPaths } from '@trellis/server/rest/router';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { Config } from '../config/config.js';
import { readAudience, readPageData } from '../handlers/page-data.js';
import { type MountedService, mountServices, putProductFirst, toContractName } from '../project/mount.js';
import type { createSiteRequests } from '../site-data/requests.js';
import type { ContractLink } from '../web/page-data.js';
import { BOARD_PATHS, findPageRoute, GRAPHQL_PATHS, PAGE_MODULES, PAGE_PATHS, toProductPages } from './page-paths.js';
import type { Services } from './services.js';

export interface AppOptions {
  readonly log: Log;
  readonly config: Config;
  readonly services: Services;
  readonly mounted: readonly MountedService[];
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
  /** Called when a response is complete. */
  readonly onComplete?: (request: CompletedRequest) => void;
  /** Traces requests. */
  readonly trace?: RequestHandler;
  /** Exchanges rate limit counts with the other workers. */
  readonly exchange?: CountExchange;
}

/** The built pages are next to the built server, or in the output of the build if the server runs from its sources. */
const PAGE_FOLDERS = ['../pages/', '../../dist/pages/'].map((path) => new URL(path, import.meta.url));

export interface App {
  /** Can listen at once. Until {@link App.open} is called, it responds to every request with `unavailable`. */
  readonly server: Server;
  open(services: Services): Promise<void>;
}

export function createApp(options: Omit<AppOptions, 'mounted' | 'services'>): App {
  const { config, log } = options;
  const entrance = createStartupListener({ log });
  return {
    server: createHttpServer(entrance.listener, { log, processes: config.workers }),
    async open(services) {
      // Loaded late, as GraphQL takes as long to load as the rest of a server that has no site.
      const siteRequests = services.site && (await import('../site-data/requests.js')).createSiteRequests;
      const mounted = await mountServices(config, services);
      entrance.open(createListener({ ...options, services, mounted, siteRequests }));
    },
  };
}

interface ListenerOptions extends AppOptions {
  /** Absent when the site service does not run. */
  readonly siteRequests: typeof createSiteRequests | undefined;
}

const HOST_ADVICE = 'PUBLIC_URL and TRELLIS_ALLOWED_HOSTS name its hosts.';

/** Connects the operation tables to handlers, the schema to resolvers, and paths to pages. */
function createListener(options: ListenerOptions): RequestListener {
  const { config, services, mounted, log, onComplete, trace } = options;
  const app = express().disable('x-powered-by').set('trust proxy', config.trustProxy);
  const limits = createRateLimiter({
    perMinute: config.rateLimit,
    tightPerMinute: config.tightRateLimit,
    shared: services.rateCounts,
    exchange: options.exchange,
  });
  const countRequest = addressLimit(options, config.siteRateLimit, 'requests');
  const countPage: RequestHandler = (request, response, next) => {
    nameRequest(response, { operation: 'page', route: findPageRoute(request.path) });
    countRequest(getClientAddress(request), response);
    next();
  };
  const gate = siteGate(options, limits);
  const { kind: siteAccess } = config.siteAccess;
  const pages = builtPages(options);
  const findAudience = createPageDataReader({
    authenticate: services.authenticatorFor([]),
    read: readAudience(services),
  });
  const product = toProductPages(config, { findAudience, paletteScript: pages.toolScript });
  const explorer = loadExplorer({
    product,
    introspection: config.introspection,
    needsToken: siteAccess === 'token',
    enter: gate ? express.Router().use(countPage, gate.explorer) : countPage,
  });
  const reference = loadApiReference(mounted.filter(({ isRunning }) => isRunning).map(toListedContract), product);
  const context = { log, onComplete, trustsRequestIds: config.trustProxy > 0 };
  const bounds = { isAllowedHost: createHostCheck(config), hostAdvice: HOST_ADVICE };
  app.use(requestContext(context));
  if (trace) app.use(trace);
  app.use(requestBounds(bounds));
  // The site comes before the security headers, which take longer to set than some queries and images to serve.
  // The gate guards /static even if the site does not run, because copies that were published earlier remain there.
  if (gate) app.use('/static', gate.files);
  const headers = securityHeaders({ isHttps: isHttps(config) });
  let requests: ReturnType<typeof createSiteRequests> | undefined;
  if (services.site && options.siteRequests) {
    const { site } = services;
    const countImage = addressLimit(options, config.imageRateLimit, 'generated images');
    app.get(GRAPHQL_PATHS, explorer.page).options(GRAPHQL_PATHS, allowMethods('GET, HEAD, POST, OPTIONS'));
    const { stopping } = services.readiness;
    requests = options.siteRequests({ config, site, log, gate, headers, countRequest, countImage, stopping });
    app.use(requests.handler);
  }
  for (const service of putProductFirst(mounted)) app.use(serviceRouter(service, { ...options, limits }));
  app.use(rejectUnknownPaths(mounted.flatMap(listOwnedPrefixes), dataHeaders({ isHttps: isHttps(config) })));
  app.use(headers);
  app.use(explorer.assets, reference.assets, pages.assets);
  app.get('/docs', countPage, reference.page).all('/docs', allowMethods(READ_ONLY));
  app.get(PAGE_PATHS, countPage, pages.document).all(PAGE_PATHS, allowMethods(READ_ONLY));
  app.get('/*rest', countPage, pages.notFound);
  app.use(
    notFoundHandler(),
    malformedPage(express.Router().use(headers, countPage, pages.notFound)),
    errorHandler({ log }),
  );
  // Tracing needs the handlers of Express to run within its context.
  if (!requests || trace) return app as RequestListener;
  return queryListener(app as RequestListener, { requests, context, bounds, hops: config.trustProxy });
}

/** Shows the page for unknown paths to browsers that open an address with an invalid escape, which no route decodes. */
const malformedPage =
  (notFound: RequestHandler): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    const isPage = ['GET', 'HEAD'].includes(request.method) && tryDecode(request.path) === undefined;
    if (!isPage || response.headersSent) next(error);
    else notFound(request, response, (failure?: unknown) => next(failure ?? error));
  };

interface QueryListenerOptions {
  readonly requests: ReturnType<typeof createSiteRequests>;
  readonly context: Parameters<typeof createRequestTracker>[0];
  readonly bounds: Parameters<typeof createBoundsCheck>[0];
  /** The number of trusted proxies in front. */
  readonly hops: number;
}

/**
 * Responds to ordinary queries before Express, which takes longer than a stored response. All other requests, and
 * those out of bounds, continue to the app, with their id.
 */
function queryListener(
  app: RequestListener,
  { requests, context, bounds, hops }: QueryListenerOptions,
): RequestListener {
  const track = createRequestTracker(context);
  const isWithinBounds = toPredicate(createBoundsCheck(bounds));
  return (request, response) => {
    if (!isQuery(request) || !isWithinBounds(request)) {
      app(request, response);
      return;
    }
    addForwardedAddress(request, hops);
    const { requestId } = track(request, response);
    if (!requests.query(request, response, ['X-Request-Id', requestId])) app(request, response);
  };
}

/** Returns whether a request is for the endpoint as clients write it, and not for the page at the same path. */
function isQuery({ method, url = '', headers: { accept = '' } }: IncomingMessage): boolean {
  if (!url.startsWith('/graphql')) return false;
  if (method === 'POST') return url.length === '/graphql'.length;
  return method === 'GET' && url.startsWith('?query=', '/graphql'.length) && !accept.includes('html');
}

function toPredicate<T>(check: (value: T) => void): (value: T) => boolean {
  return (value) => {
    try {
      check(value);
      return true;
    } catch {
      return false;
    }
  };
}

function builtPages({ config, services, mounted, origin }: AppOptions): BuiltPages {
  const { services: running, accounts, siteAccess, instanceLabel } = config;
  const hasDashboard = running.includes('dashboard');
  return loadBuiltPages({
    folders: PAGE_FOLDERS,
    // Without the dashboard, the first page is the list of services.
    modules: hasDashboard ? PAGE_MODULES : { ...PAGE_MODULES, '/': PAGE_MODULES['/services'] },
    values: {
      services: running.join(' '),
      accounts,
      contracts: JSON.stringify(mounted.filter(({ isRunning }) => isRunning).map(toContractLink)),
      siteAccess: siteAccess.kind,
      label: instanceLabel,
    },
    workers: hasDashboard ? ['push-worker.js'] : [],
    origin,
    findPageData: createPageDataReader({
      authenticate: services.authenticatorFor([]),
      read: readPageData(services, hasDashboard ? BOARD_PATHS : []),
    }),
  });
}

const isHttps = ({ publicUrl }: Config): boolean => publicUrl?.startsWith('https:') ?? false;

/** Creates a limit per address. `TRELLIS_RATE_LIMIT=0` turns off these limits as well. */
const addressLimit = ({ config, exchange }: AppOptions, perMinute: number, what: string): AddressLimit =>
  createAddressLimit({ perMinute: config.rateLimit === 0 ? undefined : perMinute, what, exchange });

/** Creates the gate of a site that is not public. */
function siteGate(options: AppOptions, limits: RateLimiter): SiteGate | undefined {
  const { siteAccess } = options.config;
  const { authenticatorFor, linkSigner } = options.services;
  if (siteAccess.kind === 'public') return undefined;
  return createSiteGate({
    readers:
      siteAccess.kind === 'token'
        ? siteAccess
        : {
            kind: 'people',
            authenticate: authenticatorFor(['personal']),
            limits,
            signInUrl: '/sign-in?next=%2Fgraphql',
          },
    findExpiry: (path, signature) => linkSigner?.findExpiry(path, signature),
  });
}

interface RouterOptions extends AppOptions {
  /** One set of limits, because a caller may use several services. */
  readonly limits: RateLimiter;
}

/** Serves the operations of a service, and its document if it runs. */
function serviceRouter(
  { entry, context, handlers, onRejected, operations, documentPath, isRunning }: MountedService,
  { config, services, limits }: RouterOptions,
): RequestHandler {
  const { table, document } = context;
  const { tokens = ['personal'], fixedMessages, uncompressedOperations } = entry;
  return contractRouter({
    ...table,
    operations,
    handlers,
    ownedPrefixes: [],
    fixedMessages,
    uncompressedOperations,
    document: isRunning ? contractDocument(documentPath, document, { isHttps: isHttps(config) }) : undefined,
    authenticate: entry.authenticate?.(context) ?? services.authenticatorFor(tokens, addressOf),
    onRejected,
    limits,
    replays: services.replays,
    validateResponses: !config.production,
    headers: dataHeaders({ isHttps: isHttps(config) }),
    streams: { stopping: services.readiness.stopping },
  });
}

/** A service without a base path owns only its own paths. */
const listOwnedPrefixes = ({ entry, context: { table } }: MountedService): readonly string[] =>
  entry.ownedPrefixes ?? (table.basePath === '' ? [] : [table.basePath]);

/** Requests of operations come from a socket. */
const addressOf = (request: object): string => getClientAddress(request as Parameters<typeof getClientAddress>[0]);

const toListedContract = ({ name, documentPath }: MountedService): ListedContract => ({
  id: name,
  name: toContractName(name),
  url: documentPath,
  client: CLIENTS[name],
});

const toContractLink = ({ name, entry, context, documentPath }: MountedService): ContractLink => ({
  name: toContractName(name),
  url: documentPath,
  basePath: entry.ownedPrefixes?.[0] ?? (context.table.basePath || '/'),
});

/** The generated clients of our own services, as the package exports them. */
const CLIENTS: Readonly<Record<string, ListedContract['client']>> = {
  dashboard: { create: 'createDashboardClient', from: 'trellis-client', calls: 'trellis-client/calls' },
  secrets: {
    create: 'createSecretsClient',
    from: 'trellis-client/secrets',
    calls: 'trellis-client/secrets/calls',
  },
};
