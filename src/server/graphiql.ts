import type { Request, RequestHandler } from 'express';
import helmet from 'helmet';
import { createTextSender } from './static-assets.js';

/**
 * As strict as GraphiQL allows. Its dialogs prevent scrolling with a style element whose text depends on the width of
 * the scroll bar, which rules out a hash. Its fonts and icons are data URLs.
 */
const policy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'style-src-elem': ["'self'", "'unsafe-inline'"],
    'font-src': ["'self'", 'data:'],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  },
});

/**
 * Shows GraphiQL to a browser that opens the URL of the endpoint. Other requests continue to the endpoint.
 *
 * @param enter Admits a request for the page, or responds to it.
 */
export function graphiqlPage(page: string, enter: RequestHandler): RequestHandler {
  const send = createTextSender(page, 'html');
  const show: RequestHandler = (request, response) => {
    policy(request, response, () => {
      response.set('X-Content-Type-Options', 'nosniff').vary('Accept');
      void send(response);
    });
  };
  return (request, response, next) => {
    if (!wantsPage(request)) {
      next();
      return;
    }
    return enter(request, response, (error?: unknown) => (error ? next(error) : show(request, response, next)));
  };
}

function wantsPage(request: Request): boolean {
  if (request.method !== 'GET' || request.query.query !== undefined) return false;
  return request.accepts(['application/json', 'application/graphql-response+json', 'text/html']) === 'text/html';
}
