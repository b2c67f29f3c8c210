import type { RequestListener, Server } from 'node:http';
import { createSiteGate, type SiteGate } from '@trellis/server/files/site-gate';
import type { GraphqlOptions } from '@trellis/server/graphql/endpoint';
import { createHostCheck, createStartupListener, requestBounds } from '@trellis/server/http/admission';
import { allowMethods, errorHandler, notFoundHandler, READ_ONLY } from '@trellis/server/http/errors';
import { dataHeaders, securityHeaders } from '@trellis/server/http/headers';
import {
  type AddressLimit,
  createAddressLimit,
  createRateLimiter,
  type RateLimiter,
} from '@trellis/server/http/rate-limits';
import { createLog, getClientAddress, type Log, requestContext } from '@trellis/server/http/request';
import { createHttpServer } from '@trellis/server/http/server';
import { createMcp } from '@trellis/server/mcp/endpoint';
import { type BuiltPages, createPageDataReader, loadBuiltPages } from '@trellis/server/pages/built-pages';
import { loadApiReference, loadExplorer } from '@trellis/server/pages/developer-pages';
import { type ServedContract, contractDocument, contractRouter } from '@trellis/server/rest/router';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Config } from './config/config.js';
import * as dashboard from './generated/dashboard/operations.js';
import * as secrets from './generated/secrets/operations.js';
import { dashboardHandlers } from './handlers/dashboard/handlers.js';
import { readPageData } from './handlers/page-data.js';
import { FIXED_ERROR_MESSAGES, secretsHandlers } from './handlers/secrets/handlers.js';
import { MCP_TOOLS } from './handlers/secrets/mcp-tools.js';
import { objectsHandlers } from './handlers/secrets/objects.js';
import { UNCOMPRESSED_OPERATIONS } from './handlers/uncompressed.js';
import { BOARD_PATHS, GRAPHQL_PATHS, PAGE_MODULES, PAGE_PATHS } from './page-paths.js';
import type { Services } from './services.js';
import type { createSiteRequests } from './site-requests.js';

interface AppOptions {
  readonly log: Log;
  readonly config: Config;
  readonly services: Services;
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
}

/** Operations that every server has, whichever services it runs. */
const COMMON_OPERATIONS = ['getHealth', 'getReadiness', 'getVersion'];

/** The contracts with their documents. */
const CONTRACTS = [
  { id: 'dashboard', name: 'Dashboard', url: '/api/openapi.json' },
  { id: 'secrets', name: 'Secrets', url: '/secrets/openapi.json' },
] as const;

/** The built pages are next to the built server, or in the output of the build if the server runs from its sources. */
const PAGE_FOLDERS = ['./pages/', '../dist/pages/'].map((path) => new URL(path, import.meta.url));

/** Base path of the sign-in operations, which the dashboard and the secrets service share. */
const ACCOUNT_PATHS = '/api/auth/';

export interface App {
  /** Can listen at once. Until {@link App.open} is called, it responds to every request with `unavailable`. */
  readonly server: Server;
  open(services: Services): Promise<void>;
}

export function createApp({ config, origin }: Omit<AppOptions, 'services' | 'log'>): App {
  const log = createLog({ level: config.logLevel });
  const entrance = createStartupListener();
  return {
    server: createHttpServer(entrance.listener, { log }),
    async open(services) {
      // Loaded late, as GraphQL takes as long to load as the rest of a server that has no site.
      const siteRequests = services.site && (await import('./site-requests.js')).createSiteRequests;
      entrance.open(createListener({ config, origin, services, log, siteRequests }));
    },
  };
}

interface ListenerOptions extends AppOptions {
  /** Absent when the site service does not run. */
  readonly siteRequests: typeof createSiteRequests | undefined;
}

/** Connects the operation tables to handlers, the schema to resolvers, and paths to pages. */
function createListener(options: ListenerOptions): RequestListener {
  const { config, services, log } = options;
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
  const gate = siteGate(options, limits);
  const { kind: siteAccess } = config.siteAccess;
  const pages = builtPages(options);
  const explorer = loadExplorer({
    introspection: config.introspection,
    needsToken: siteAccess === 'token',
    enter: gate ? express.Router().use(countPage, gate.explorer) : countPage,
  });
  const reference = loadApiReference(CONTRACTS.filter(({ id }) => config.services.includes(id)));
  app.use(requestContext({ log }), requestBounds({ isAllowedHost: createHostCheck(config) }));
  // The site comes before the security headers, which take longer to set than some queries and images to serve.
  // The gate guards /static even if the site does not run, because copies that were published earlier remain there.
  if (gate) app.use('/static', gate.files);
  const headers = securityHeaders({ isHttps: isHttps(config) });
  if (services.site && options.siteRequests) {
    const { site, staticFolder } = services;
    const countImage = addressLimit(config, config.imageRateLimit, 'generated images');
    const admit: GraphqlOptions['admit'] = (request, response) => {
      countRequest(getClientAddress(request), response);
      // Express created both objects.
      return gate?.admit(request as Request, response as Response);
    };
    app.get(GRAPHQL_PATHS, explorer.page).options(GRAPHQL_PATHS, allowMethods('GET, POST, OPTIONS'));
    app.use(options.siteRequests({ config, site, staticFolder, log, gate, admit, headers, countImage }));
  }
  app.use(dashboardRouter({ ...options, limits }));
  if (config.services.includes('secrets')) app.use(secretsRouter({ ...options, limits }));
  app.use(headers);
  app.use(explorer.assets, reference.assets, pages.assets);
  app.get('/docs', countPage, reference.page).all('/docs', allowMethods(READ_ONLY));
  app.get(PAGE_PATHS, countPage, pages.document).all(PAGE_PATHS, allowMethods(READ_ONLY));
  app.get('/*rest', countPage, pages.notFound);
  app.use(notFoundHandler(), errorHandler({ log }));
  return app as RequestListener;
}

function builtPages({ config, services, origin }: AppOptions): BuiltPages {
  const { services: running, siteAccess, instanceLabel } = config;
  const hasDashboard = running.includes('dashboard');
  return loadBuiltPages({
    folders: PAGE_FOLDERS,
    // Without the dashboard, the first page is the list of services.
    modules: hasDashboard ? PAGE_MODULES : { ...PAGE_MODULES, '/': PAGE_MODULES['/services'] },
    values: { services: running.join(' '), siteAccess: siteAccess.kind, label: instanceLabel },
    origin,
    findPageData: createPageDataReader({
      authenticate: services.authenticatorFor([]),
      read: readPageData(services, hasDashboard ? BOARD_PATHS : []),
    }),
  });
}

const isHttps = ({ publicUrl }: Config): boolean => publicUrl?.startsWith('https:') ?? false;

/** Creates a limit per address. `TRELLIS_RATE_LIMIT=0` turns off these limits as well. */
const addressLimit = ({ rateLimit }: Config, perMinute: number, what: string): AddressLimit =>
  createAddressLimit({ perMinute: rateLimit === 0 ? undefined : perMinute, what });

/** Creates the gate of a site that is not public. */
function siteGate(options: AppOptions, limits: RateLimiter): SiteGate | undefined {
  const { siteAccess } = options.config;
  const { authenticatorFor, linkSigner } = options.services;
  if (siteAccess.kind === 'public') return undefined;
  return createSiteGate({
    readers:
      siteAccess.kind === 'token'
        ? siteAccess
        : { kind: 'people', authenticate: authenticatorFor(['personal']), limits },
    findExpiry: (path, signature) => linkSigner?.findExpiry(path, signature),
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
  return contractRouter({
    basePath,
    ownedPrefixes: ['/api'],
    operations: operations.filter(
      ({ id, path }) => isRunning || COMMON_OPERATIONS.includes(id) || (hasAccounts && path.startsWith(ACCOUNT_PATHS)),
    ),
    revision,
    schemes,
    document: isRunning ? documentOf('dashboard', config) : undefined,
    handlers: dashboardHandlers(services),
    authenticate: authenticatorFor(['personal']),
    limits,
    replays: services.replays,
    validateResponses: !config.production,
    headers: dataHeaders({ isHttps: isHttps(config) }),
    streams: { stopping: services.readiness.stopping },
    uncompressedOperations: UNCOMPRESSED_OPERATIONS.dashboard,
  });
}

function secretsRouter({ config, services, limits }: RouterOptions): RequestHandler {
  const { authenticatorFor } = services;
  const { operations, basePath, revision, schemes } = secrets;
  const mcp = createMcp({
    ...MCP_TOOLS,
    operations,
    handlers: objectsHandlers({ ...services, basePath }),
    document: new URL('./generated/secrets/openapi.json', import.meta.url),
    version: services.version,
  });
  return contractRouter({
    basePath,
    operations,
    revision,
    schemes,
    document: documentOf('secrets', config),
    handlers: secretsHandlers({ ...services, basePath, mcp }),
    fixedMessages: FIXED_ERROR_MESSAGES,
    authenticate: authenticatorFor(['write', 'consumer']),
    limits,
    replays: services.auditedReplays,
    validateResponses: !config.production,
    uncompressedOperations: UNCOMPRESSED_OPERATIONS.secrets,
    headers: dataHeaders({ isHttps: isHttps(config) }),
  });
}

function documentOf(id: (typeof CONTRACTS)[number]['id'], config: Config): ServedContract | undefined {
  const contract = CONTRACTS.find((one) => one.id === id);
  const file = new URL(`./generated/${id}/openapi.json`, import.meta.url);
  return contract && contractDocument(contract.url, file, { isHttps: isHttps(config) });
}
