/** The requests of the site: queries, images and published files. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { findGatsbyHint } from '@trellis/core/gatsby-hints';
import { createGraphqlEndpoint } from '@trellis/server/graphql/endpoint';
import { type SiteGate, siteRouter } from '@trellis/server/http/admission';
import type { AddressLimit } from '@trellis/server/http/rate-limits';
import { getClientAddress, getRequestContext, type Log, nameRequest } from '@trellis/server/http/request';
import { allowMethods, READ_ONLY, REVALIDATE } from '@trellis/server/http/responses';
import { createTextSender } from '@trellis/server/pages/built-pages';
import { imageLinks, publishedFiles } from '@trellis/server/published-files';
import { describeRecordTypes } from '@trellis/site/graphql/record-descriptions';
import { buildExecutableSchema, createSchemaEngine } from '@trellis/site/graphql/site-schema';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Config } from '../config/config.js';
import { createSiteContext } from '../resolvers/context.js';
import { ALLOW_ALL, allowStoredArguments } from '../resolvers/stored-arguments.js';
import { GRAPHQL_PATHS } from '../startup/page-paths.js';
import type { ImageService, OpenSite, SiteService } from './service.js';

interface SiteDependencies {
  readonly config: Config;
  readonly site: SiteService;
  readonly log: Log;
  /** Absent for a public site. */
  readonly gate: SiteGate | undefined;
  /** Sets the headers of published files. */
  readonly headers: RequestHandler;
  readonly countRequest: AddressLimit;
  /** Counts generated images. */
  readonly countImage: AddressLimit;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

/** The requests of a site. */
interface SiteRequests {
  /**
   * Responds to a query if the site is open. Needs no Express, which takes longer than a stored response.
   *
   * @param headers Headers of the response, as names and values in turns.
   * @returns whether it responds.
   */
  readonly query: (request: IncomingMessage, response: ServerResponse, headers: readonly string[]) => boolean;
  /** Serves queries, images and published files of the site once it is open. */
  readonly handler: RequestHandler;
}

export function createSiteRequests(dependencies: SiteDependencies): SiteRequests {
  const { site, gate, headers } = dependencies;
  const endpoints = new WeakMap<OpenSite, QueryHandler>();
  const endpointOf = (open: OpenSite): QueryHandler => {
    const endpoint = endpoints.get(open) ?? graphql(open, dependencies);
    endpoints.set(open, endpoint);
    return endpoint;
  };
  const handler = siteRouter({
    paths: [...GRAPHQL_PATHS, RECORD_TYPES_PATH, '/static'],
    site,
    serve(open) {
      const { pathPrefix } = open.site.config;
      const staticPaths = [...new Set(['/static', `${pathPrefix}/static`])];
      const router = express.Router();
      if (gate && pathPrefix !== '') router.use(`${pathPrefix}/static`, gate.files);
      router.all(GRAPHQL_PATHS, (request, response) => endpointOf(open)(request, response));
      router
        .get(RECORD_TYPES_PATH, headers, recordTypes(open, dependencies))
        .all(RECORD_TYPES_PATH, allowMethods(READ_ONLY));
      router.use(staticPaths, imageFiles(open.imaging, dependencies));
      return router.use(staticPaths, headers, otherFiles(open.imaging));
    },
  });
  return {
    handler,
    query(request, response, given) {
      if (!('open' in site.state)) return false;
      endpointOf(site.state.open)(request, response, given);
      return true;
    },
  };
}

type QueryHandler = (request: IncomingMessage, response: ServerResponse, headers?: readonly string[]) => void;

/** The descriptions of the record types, which the pages read. */
const RECORD_TYPES_PATH = '/site/record-types.json';

function recordTypes({ schema }: OpenSite, { gate, countRequest }: SiteDependencies): RequestHandler {
  let send: ReturnType<typeof createTextSender> | undefined;
  return async (request, response) => {
    nameRequest(response, { operation: 'record-types', route: RECORD_TYPES_PATH });
    countRequest(getClientAddress(request), response);
    await gate?.admit(request, response);
    send ??= createTextSender(describe(schema), 'json', REVALIDATE);
    await send(response);
  };
}

const describe = (schema: OpenSite['schema']): string =>
  JSON.stringify(describeRecordTypes(buildExecutableSchema(schema), schema.tables));

/**
 * Validates the stored queries of a site that restricts image transforms to them.
 *
 * @throws AppError `invalid_input`
 */
export function checkStoredQueries({ schema, storedQueries }: OpenSite): void {
  if (storedQueries) allowStoredArguments(buildExecutableSchema(schema), storedQueries);
}

function graphql(open: OpenSite, { config, log, gate, countRequest, stopping }: SiteDependencies): QueryHandler {
  const { site, schema, imaging, markdown, formatDate, storedQueries } = open;
  const { repeatable, ...engine } = createSchemaEngine(schema);
  const imagePolicy = storedQueries ? allowStoredArguments(engine.schema, storedQueries) : ALLOW_ALL;
  const { store, readDigest } = site;
  const { changes } = store;
  const dependencies = { records: store, changes, formatDate, imagePolicy, markdown, readDigest, ...imaging };
  const endpoint = createGraphqlEndpoint({
    ...engine,
    admit(request, response, headers) {
      // A shared cache would send the counts of one client to others.
      const isShared = gate === undefined && request.method !== 'POST';
      countRequest(getClientAddress(request), isShared ? NO_HEADERS : headers);
      // The gate uses only what a listener before Express has too.
      return gate?.admit(request as Request, response as Response);
    },
    introspection: config.introspection,
    hint: findGatsbyHint,
    limits: {
      values: config.queryValues,
      workMs: config.queryWorkMs,
      timeoutMs: config.queryTimeoutMs,
      settings: {
        values: 'TRELLIS_QUERY_VALUES',
        workMs: 'TRELLIS_QUERY_WORK_MS',
        timeoutMs: 'TRELLIS_QUERY_TIMEOUT_MS',
      },
    },
    reuse: {
      repeatable,
      getVersion: () => imaging.signer?.currentWindow() ?? 0,
      getGeneration: () => store.generation,
      unchangedSince: (kinds) => store.unchangedSince(kinds),
      follow: () => changes.follow(),
      cacheControl: toCacheControl(config, gate !== undefined),
    },
    streams: {
      max: config.siteStreams,
      setting: 'TRELLIS_SITE_STREAMS',
      stopping,
      // The gate uses only what a listener before Express has too.
      readmit: gate && ((request, response) => gate.admit(request as Request, response as Response)),
    },
    createContext: (budget) => createSiteContext(dependencies, budget),
    onOperation(response, name) {
      getRequestContext(response).queryName = name;
    },
    report: (defect, requestId) => log.error({ requestId, err: defect }, 'internal error'),
  });
  return (request, response, headers) => {
    const context = getRequestContext(response);
    context.operation = 'graphql';
    context.route = '/graphql';
    endpoint(request, response, context.requestId, headers);
  };
}

const NO_HEADERS = { setHeader: () => undefined as never };

/** A shared cache may store responses of a public site. It asks the server before each use, or after some seconds. */
function toCacheControl({ siteCacheSeconds: seconds }: Config, isPrivate: boolean) {
  if (isPrivate) return { kept: REVALIDATE, other: REVALIDATE };
  const other = 'public, no-cache';
  if (seconds === 0) return { kept: other, other };
  return { kept: `public, max-age=0, s-maxage=${seconds}, stale-while-revalidate=${seconds}`, other };
}

function imageFiles({ images }: ImageService, { gate, countImage }: SiteDependencies): RequestHandler {
  return imageLinks({
    findRoute: (path) => images.findRoute(path),
    // A shared cache stores the images of a public site.
    countImage: (request, response) => countImage(getClientAddress(request), gate ? response : NO_HEADERS),
  });
}

function otherFiles({ images, publicFiles }: ImageService): RequestHandler {
  return publishedFiles(async (path) => {
    const name = publicFiles.parsePath(path) ?? images.parseOriginal(path);
    return name && publicFiles.publish(name);
  });
}
