import type { RequestListener, Server } from 'node:http';
import express from 'express';
import type { Request, RequestHandler, Response } from 'express';
import type { Config } from './config.js';
import * as dashboard from './generated/dashboard/operations.js';
import * as secrets from './generated/secrets/operations.js';
import { dashboardHandlers } from './handlers/dashboard/handlers.js';
import { readPageData } from './handlers/page-data.js';
import { secretsHandlers } from './handlers/secrets/handlers.js';
import { FIXED_ERROR_MESSAGES } from './handlers/secrets/fixed-error-messages.js';
import { objectsHandlers } from './handlers/secrets/objects.js';
import { UNCOMPRESSED_OPERATIONS } from './handlers/uncompressed.js';

import { createSiteContext } from './resolvers/context.js';
import { createSiteEngine } from './resolvers/site-engine.js';
import { ALLOW_ALL, allowStoredArguments } from './resolvers/stored-arguments.js';
import { getClientAddress } from './server/client-address.js';
import { requestBounds } from './server/bounds.js';
import { loadBuiltPages } from './server/built-pages.js';
import { contractRouter } from './server/contract-router.js';
import { createStartupListener } from './server/startup-listener.js';
import { loadExplorer } from './server/explorer.js';
import { errorHandler, notFoundHandler } from './server/errors.js';
import { createGraphqlEndpoint } from './server/graphql.js';
import type { GraphqlOptions } from './server/graphql.js';
import { dataHeaders, securityHeaders } from './server/headers.js';
import { createHostCheck } from './server/hosts.js';
import { createHttpServer } from './server/http-server.js';
import { imageLinks } from './server/image-links.js';
import { createAddressLimit, createRateLimiter } from './server/rate-limiter.js';
import type { AddressLimit, RateLimiter } from './server/rate-limiter.js';
import { createLog } from './server/log.js';
import type { Log } from './server/log.js';
import { createMcp } from './server/mcp/mcp.js';
import { READ_ONLY, allowMethods } from './server/methods.js';
import { createPageDataReader } from './server/page-data.js';
import { PAGE_PATHS } from './server/page-paths.js';
import { loadApiReference } from './server/api-reference.js';
import { getRequestContext, requestContext } from './server/request-context.js';
import { createSiteGate } from './server/site-gate.js';
import type { SiteGate, SiteReaders } from './server/site-gate.js';
import { contractDocument } from './server/static-contract.js';
import { siteRouter } from './server/site-router.js';
import { staticFiles } from './server/static-files.js';
import type { Services } from './services.js';
import type { ImageService } from './site-data.js';
import type { OpenSite, SiteService } from './site-service.js';

interface AppOptions {
  readonly log: Log;
  readonly config: Config;
  readonly services: Services;
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
}

const GRAPHQL_PATHS = ['/graphql', '/___graphql'];

/** Operations that every server has, whichever services it runs. */
const COMMON_OPERATIONS = ['getHealth', 'getReadiness', 'getVersion'];

/** Base path of the sign-in operations, which the dashboard and the secrets service share. */
const ACCOUNT_PATHS = '/api/auth/';

export interface App {
  /** Can listen at once. Until {@link App.open} is called, it responds to every request with `unavailable`. */
  readonly server: Server;
  open(services: Services): void;
}

export function createApp({ config, origin }: Omit<AppOptions, 'services' | 'log'>): App {
  const log = createLog({ level: config.logLevel });
  const entrance = createStartupListener();
  return {
    server: createHttpServer(entrance.listener, { log }),
    open: (services) => entrance.open(createListener({ config, origin, services, log })),
  };
}

/** Connects the operation tables to handlers, the schema to resolvers, and paths to pages. */
function createListener(options: AppOptions): RequestListener {
  const { config, services, origin, log } = options;
  const app = express().disable('x-powered-by').set('trust proxy', config.trustProxy);
  const limits = createRateLimiter({
    perMinute: config.rateLimit,
    tightPerMinute: config.tightRateLimit,
    shared: services.rateCounts,
  });
  const countRequest = addressLimit(config, config.siteRateLimit, 'requests');
  const countPage: RequestHandler = (request, response, next) => {
    countRequest(getClientAddress(request), response);
    next();
  };
  const gate = createSiteGate({
    readers: siteReaders(options, limits),
    findExpiry: (path, signature) => services.linkSigner?.findExpiry(path, signature),
  });
  const findFacts = createPageDataReader({
    authenticate: services.authenticatorFor([]),
    read: readPageData(services),
    hasDashboard: config.services.includes('dashboard'),
  });
  const { kind: siteAccess } = config.siteAccess;
  const pages = loadBuiltPages({
    ...{ origin, services: config.services, siteAccess, label: config.instanceLabel, findPageData: findFacts },
  });
  const explorer = loadExplorer({
    introspection: config.introspection,
    needsToken: siteAccess === 'token',
    enter: express.Router().use(countPage, gate.explorer),
  });
  const reference = loadApiReference({ services: config.services });
  app.use(requestContext({ log }), requestBounds({ isAllowedHost: createHostCheck(config) }));
  // The site comes before the security headers, which take longer to set than some queries and images to serve.
  // The gate guards /static even if the site does not run, because copies that were published earlier remain there.
  if (siteAccess !== 'public') app.use('/static', gate.files);
  if (services.site) {
    const admit: GraphqlOptions['admit'] = (request, response) => {
      countRequest(getClientAddress(request), response);
      // Express created both objects.
      return gate.admit(request as Request, response as Response);
    };
    app.get(GRAPHQL_PATHS, explorer.page).options(GRAPHQL_PATHS, allowMethods('GET, POST, OPTIONS'));
    app.use(siteRequests({ config, site: services.site, staticFolder: services.staticFolder, log, gate, admit }));
  }
  app.use(dashboardRouter({ ...options, limits }));
  if (config.services.includes('secrets')) app.use(secretsRouter({ ...options, limits }));
  app.use(securityHeaders({ isHttps: isHttps(config) }));
  app.use(explorer.assets, reference.assets, pages.assets);
  app.get('/docs', countPage, reference.page).all('/docs', allowMethods(READ_ONLY));
  app.get(PAGE_PATHS, countPage, pages.document).all(PAGE_PATHS, allowMethods(READ_ONLY));
  app.get('/*rest', countPage, pages.notFound);
  app.use(notFoundHandler(), errorHandler({ log }));
  return app as RequestListener;
}

const isHttps = ({ publicUrl }: Config): boolean => publicUrl?.startsWith('https:') ?? false;

/** Creates a limit per address. `TRELLIS_RATE_LIMIT=0` turns off these limits as well. */
const addressLimit = ({ rateLimit }: Config, perMinute: number, what: string): AddressLimit =>
  createAddressLimit({ perMinute: rateLimit === 0 ? undefined : perMinute, what });

function siteReaders({ config: { siteAccess }, services }: AppOptions, limits: RateLimiter): SiteReaders {
  if (siteAccess.kind !== 'people') return siteAccess;
  return { kind: 'people', authenticate: services.authenticatorFor(['personal']), limits };
}

interface SiteDependencies {
  readonly config: Config;
  readonly site: SiteService;
  readonly staticFolder: string;
  readonly log: Log;
  readonly gate: SiteGate;
  readonly admit: GraphqlOptions['admit'];
}

/** Serves queries, images and published files of the site once it is open. */
function siteRequests({ config, site, staticFolder, log, gate, admit }: SiteDependencies): RequestHandler {
  const countImage = addressLimit(config, config.imageRateLimit, 'generated images');
  return siteRouter({
    paths: [...GRAPHQL_PATHS, '/static'],
    find: () => site.state,
    serve(open) {
      const { pathPrefix } = open.site.config;
      const staticPaths = [...new Set(['/static', `${pathPrefix}/static`])];
      const router = express.Router();
      if (pathPrefix !== '') router.use(`${pathPrefix}/static`, gate.files);
      router.all(GRAPHQL_PATHS, graphql({ ...open, config, log, admit }));
      router.use(staticPaths, imageFiles(open.imaging, countImage));
      return router.use(staticPaths, securityHeaders({ isHttps: isHttps(config) }), staticFiles(staticFolder));
    },
  });
}

interface GraphqlDependencies extends OpenSite {
  readonly config: Config;
  readonly log: Log;
  readonly admit: GraphqlOptions['admit'];
}

/**
 * Validates the stored queries of a site that restricts image transforms to them.
 *
 * @throws AppError `invalid_input`
 */
export function checkStoredQueries({ storedQueries }: OpenSite): void {
  if (storedQueries) allowStoredArguments(createSiteEngine().schema, storedQueries);
}

function graphql({
  config,
  site,
  imaging,
  formatDate,
  storedQueries,
  log,
  admit,
}: GraphqlDependencies): RequestHandler {
  const engine = createSiteEngine();
  const imagePolicy = storedQueries ? allowStoredArguments(engine.schema, storedQueries) : ALLOW_ALL;
  const dependencies = { records: site.store, formatDate, imagePolicy, ...imaging };
  const endpoint = createGraphqlEndpoint({
    ...engine,
    admit,
    introspection: config.introspection,
    limits: { values: config.queryValues, workMs: config.queryWorkMs, timeoutMs: config.queryTimeoutMs },
    createContext: (budget) => createSiteContext(dependencies, budget),
    report: (defect, requestId) => log.error({ requestId, err: defect }, 'internal error'),
  });
  return (request, response) => {
    const context = getRequestContext(response);
    context.operation = 'graphql';
    endpoint(request, response, context.requestId);
  };
}

function imageFiles({ images, folder, publicFiles }: ImageService, countImage: AddressLimit): RequestHandler {
  return imageLinks({
    folder,
    findRoute: (path) => images.findRoute(path),
    async publish(path) {
      const name = publicFiles.parsePath(path) ?? images.parseOriginal(path);
      return name && publicFiles.publish(name);
    },
    countImage: (request, response) => countImage(getClientAddress(request), response),
  });
}

/** Both routers share one set of limits, because a caller may use both services. */
interface RouterOptions extends AppOptions {
  readonly limits: RateLimiter;
}

function dashboardRouter({ config, services, limits }: RouterOptions): RequestHandler {
  const { authenticatorFor } = services;
  const isRunning = config.services.includes('dashboard');
  const hasAccounts = config.services.includes('secrets');
  const { operations, basePath, revision, schemes } = dashboard;
  const router = contractRouter({
    basePath,
    ownedPrefixes: ['/api'],
    operations: operations.filter(
      ({ id, path }) => isRunning || COMMON_OPERATIONS.includes(id) || (hasAccounts && path.startsWith(ACCOUNT_PATHS)),
    ),
    revision,
    schemes,
    handlers: dashboardHandlers(services),
    authenticate: authenticatorFor(['personal']),
    limits,
    replays: services.replays,
    validateResponses: !config.production,
    headers: dataHeaders({ isHttps: isHttps(config) }),
    streams: { stopping: services.readiness.stopping },
    uncompressedOperations: UNCOMPRESSED_OPERATIONS.dashboard,
  });
  return isRunning ? withDocument(config, 'dashboard', router) : router;
}

function secretsRouter({ config, services, limits }: RouterOptions): RequestHandler {
  const { authenticatorFor } = services;
  const { operations, basePath, revision, schemes } = secrets;
  const mcp = createMcp({
    operations,
    handlers: objectsHandlers({ ...services, basePath }),
    document: new URL('./generated/secrets/openapi.json', import.meta.url),
    version: services.version,
  });
  const router = contractRouter({
    basePath,
    operations,
    revision,
    schemes,
    handlers: secretsHandlers({ ...services, basePath, mcp }),
    fixedMessages: FIXED_ERROR_MESSAGES,
    authenticate: authenticatorFor(['write', 'consumer']),
    limits,
    replays: services.auditedReplays,
    validateResponses: !config.production,
    uncompressedOperations: UNCOMPRESSED_OPERATIONS.secrets,
    headers: dataHeaders({ isHttps: isHttps(config) }),
  });
  return withDocument(config, 'secrets', router);
}

const DOCUMENT_PATHS = { dashboard: '/api/openapi.json', secrets: '/secrets/openapi.json' };

/** Adds the path of the contract document to the operations of a service. */
function withDocument(
  config: Config,
  service: keyof typeof DOCUMENT_PATHS,
  operations: RequestHandler,
): RequestHandler {
  const path = DOCUMENT_PATHS[service];
  const file = new URL(`./generated/${service}/openapi.json`, import.meta.url);
  const document = express.Router().use(securityHeaders({ isHttps: isHttps(config) }));
  document.get(path, contractDocument(file)).all(path, allowMethods(READ_ONLY));
  return (request, response, next) => (request.path === path ? document : operations)(request, response, next);
}
