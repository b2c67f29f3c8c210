/** The requests of the site: queries, images and published files. */
import { imageLinks, publishedFiles } from '@trellis/server/files/published-files';
import type { SiteGate } from '@trellis/server/files/site-gate';
import { createGraphqlEndpoint, type GraphqlOptions } from '@trellis/server/graphql/endpoint';
import { siteRouter } from '@trellis/server/http/admission';
import type { AddressLimit } from '@trellis/server/http/rate-limits';
import { getClientAddress, getRequestContext, type Log } from '@trellis/server/http/request';
import { buildExecutableSchema, createSchemaEngine } from '@trellis/site/graphql/site-schema';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Config } from './config/config.js';
import { GRAPHQL_PATHS } from './page-paths.js';
import { createSiteContext } from './resolvers/context.js';
import { ALLOW_ALL, allowStoredArguments } from './resolvers/stored-arguments.js';
import type { ImageService, OpenSite, SiteService } from './site-service.js';

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
}

/** Serves queries, images and published files of the site once it is open. */
export function createSiteRequests({
  config,
  site,
  log,
  gate,
  headers,
  countRequest,
  countImage,
}: SiteDependencies): RequestHandler {
  const admit: GraphqlOptions['admit'] = (request, response) => {
    countRequest(getClientAddress(request), response);
    // Express created both objects.
    return gate?.admit(request as Request, response as Response);
  };
  return siteRouter({
    paths: [...GRAPHQL_PATHS, '/static'],
    site,
    serve(open) {
      const { pathPrefix } = open.site.config;
      const staticPaths = [...new Set(['/static', `${pathPrefix}/static`])];
      const router = express.Router();
      if (gate && pathPrefix !== '') router.use(`${pathPrefix}/static`, gate.files);
      router.all(GRAPHQL_PATHS, graphql({ ...open, config, log, admit }));
      router.use(staticPaths, imageFiles(open.imaging, countImage));
      return router.use(staticPaths, headers, otherFiles(open.imaging));
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
export function checkStoredQueries({ schema, storedQueries }: OpenSite): void {
  if (storedQueries) allowStoredArguments(buildExecutableSchema(schema), storedQueries);
}

function graphql({
  config,
  site,
  schema,
  imaging,
  formatDate,
  storedQueries,
  log,
  admit,
}: GraphqlDependencies): RequestHandler {
  const engine = createSchemaEngine(schema);
  const imagePolicy = storedQueries ? allowStoredArguments(engine.schema, storedQueries) : ALLOW_ALL;
  const dependencies = { records: site.store, formatDate, imagePolicy, ...imaging };
  const endpoint = createGraphqlEndpoint({
    ...engine,
    admit,
    introspection: config.introspection,
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
    createContext: (budget) => createSiteContext(dependencies, budget),
    onOperation(response, { name }) {
      // Express created the response.
      getRequestContext(response as Response).queryName = name?.value;
    },
    report: (defect, requestId) => log.error({ requestId, err: defect }, 'internal error'),
  });
  return (request, response) => {
    const context = getRequestContext(response);
    context.operation = 'graphql';
    context.route = '/graphql';
    endpoint(request, response, context.requestId);
  };
}

function imageFiles({ images }: ImageService, countImage: AddressLimit): RequestHandler {
  return imageLinks({
    findRoute: (path) => images.findRoute(path),
    countImage: (request, response) => countImage(getClientAddress(request), response),
  });
}

function otherFiles({ images, publicFiles }: ImageService): RequestHandler {
  return publishedFiles(async (path) => {
    const name = publicFiles.parsePath(path) ?? images.parseOriginal(path);
    return name && publicFiles.publish(name);
  });
}
