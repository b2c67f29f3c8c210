import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Responses of the services are specific to one caller, so no cache may store them. */
export const PRIVATE = 'no-store';

/** The caller's browser may store the response, and revalidates it before each use. */
export const REVALIDATE = 'private, no-cache';

/** One year, for URLs that change with their content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Sets the headers that restrict browsers to scripts, styles and connections of this origin, without frames or content
 * sniffing.
 *
 * @param options.isHttps Whether the public origin is https. If so, HSTS requires https from then on.
 */
export function securityHeaders(options: { readonly isHttps: boolean }): RequestHandler {
  const headers = collectHeaders(createHelmet(options));
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

export type Headers = readonly (readonly [string, string])[];

/** Returns the security headers of data responses. A browser that opens one as a page runs nothing. */
export function dataHeaders({ isHttps }: { readonly isHttps: boolean }): Headers {
  const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
  const needed = ['Cross-Origin-Resource-Policy', 'Strict-Transport-Security', 'X-Content-Type-Options'];
  const headers = collectHeaders(createHelmet({ isHttps })).filter(([name]) => needed.includes(name));
  return [['Content-Security-Policy', policy], ...headers];
}

/** Collects the headers once, because they are the same for every response. */
function collectHeaders(helmet: ReturnType<typeof createHelmet>): Headers {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  helmet({} as unknown as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return [...headers];
}

function createHelmet({ isHttps }: { readonly isHttps: boolean }) {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'self'"],
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        // Image previews are data URLs.
        'img-src': ["'self'", 'data:'],
        'object-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'self'"],
        'frame-ancestors': ["'none'"],
        ...(isHttps ? { 'upgrade-insecure-requests': [] } : {}),
      },
    },
    strictTransportSecurity: isHttps,
    frameguard: { action: 'deny' },
  });
}

/** Returns the values of each cookie, still encoded. */
export function parseCookies(header: string): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, string[]>();
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1) continue;
    const name = pair.slice(0, at).trim();
    const value = pair
      .slice(at + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1');
    cookies.set(name, [...(cookies.get(name) ?? []), value]);
  }
  return cookies;
}
