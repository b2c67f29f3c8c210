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
export function securityHeaders({ isHttps }: { readonly isHttps: boolean }): RequestHandler {
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
