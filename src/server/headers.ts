import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Answers of the services are about one caller: nothing between may keep them. */
export const PRIVATE = 'no-store';

/** The caller's own browser may keep it, and asks each time whether it still holds. */
export const REVALIDATE = 'private, no-cache';

/**
 * The headers that keep a browser from doing more with an answer than we mean:
 * scripts, styles and connections of this origin only, no frames, no sniffing.
 *
 * @param isHttps Whether people reach us over https, which browsers are then told to insist on.
 */
export function securityHeaders(options: { readonly isHttps: boolean }): RequestHandler {
  const headers = collectHeaders(createHelmet(options));
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

export type Headers = readonly (readonly [string, string])[];

/** The same for answers that are data: a browser that is led to open one as a page does nothing with it. */
export function dataHeaders({ isHttps }: { readonly isHttps: boolean }): Headers {
  const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
  const needed = ['Cross-Origin-Resource-Policy', 'Strict-Transport-Security', 'X-Content-Type-Options'];
  const headers = collectHeaders(createHelmet({ isHttps })).filter(([name]) => needed.includes(name));
  return [['Content-Security-Policy', policy], ...headers];
}

/** They are the same for every request, so they are made once. */
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
        // Inlined previews of images are data URLs.
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
