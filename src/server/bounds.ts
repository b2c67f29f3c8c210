import type { RequestHandler } from 'express';
import { AppError } from '../core/errors.js';
import type { HostCheck } from './hosts.js';

/** Longer than pages need, because URLs may contain GraphQL queries. */
const MAX_URL_CHARACTERS = 16_384;

/** A proxy in front could interpret repetitions of these headers differently from this server. */
const SINGLE_HEADERS = ['authorization', 'content-type', 'host', 'origin', 'sec-fetch-site'];

/** Does not repeat the name, which an attacker may have chosen. */
const HOST_NOT_ALLOWED =
  'This server is not configured for the host name of the request. PUBLIC_URL and TRELLIS_ALLOWED_HOSTS name its hosts.';

export interface BoundsOptions {
  /** Absent if requests may use any host name. */
  readonly isAllowedHost?: HostCheck;
}

/** Rejects requests that no regular client sends, before other handlers see them. */
export function requestBounds({ isAllowedHost = () => true }: BoundsOptions = {}): RequestHandler {
  return ({ url, httpVersion, headers, headersDistinct }, _response, next) => {
    if (url.length > MAX_URL_CHARACTERS) {
      throw new AppError(
        'invalid_input',
        `Expected a URL of at most ${MAX_URL_CHARACTERS} characters; received ${url.length}.`,
      );
    }
    if (!url.startsWith('/') && url !== '*') {
      throw new AppError('invalid_input', 'Expected the request target to be a path, or a URL with http or https.');
    }
    if (httpVersion === '1.1' && headersDistinct.host === undefined) {
      throw new AppError('invalid_input', 'The Host header is required.');
    }
    const name = headers.host?.replace(/:\d*$/, '').toLowerCase();
    if (name !== undefined && !isAllowedHost(name, url)) {
      throw new AppError('invalid_input', HOST_NOT_ALLOWED, { field: 'host' });
    }
    const repeated = SINGLE_HEADERS.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (repeated !== undefined) {
      const message = `Expected at most one ${repeated} header; received several.`;
      throw new AppError('invalid_input', message, { field: repeated });
    }
    next();
  };
}
