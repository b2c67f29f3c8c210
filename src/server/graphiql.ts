import type { Request, RequestHandler } from 'express';
import helmet from 'helmet';
import { createTextSender } from './static-assets.js';

/**
 * As strict as GraphiQL allows. Its dialogs stop the page from scrolling by a
 * style element whose text depends on the width of the scroll bar, so no hash
 * fits it; its fonts and icons are data URLs.
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

/** Shows GraphiQL to a browser that opens the endpoint's address; everybody else is passed on to the endpoint. */
export function graphiqlPage(page: string): RequestHandler {
  const send = createTextSender(page, 'html');
  return (request, response, next) => {
    if (!wantsPage(request)) {
      next();
      return;
    }
    policy(request, response, () => {
      response.set('X-Content-Type-Options', 'nosniff').vary('Accept');
      void send(response);
    });
  };
}

function wantsPage(request: Request): boolean {
  if (request.method !== 'GET' || request.query.query !== undefined) return false;
  return request.accepts(['application/json', 'application/graphql-response+json', 'text/html']) === 'text/html';
}
