import type { IncomingMessage } from 'node:http';
import { AppError } from '../core/errors.js';

/** A request target, still percent-encoded. */
export interface RequestTarget {
  readonly path: string;
  /** The part after the question mark. */
  readonly query: string;
}

/** The scheme and authority of a target in absolute form. */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(?=[/?]|$)/i;

/**
 * Converts a target in absolute form, as proxies send it, to origin form. Its authority replaces the Host header
 * (RFC 9112, 3.2.2), so that later checks of Host see the name that the client has requested.
 */
export function useTargetAuthority(request: IncomingMessage): void {
  const [prefix = '', authority] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  const rest = request.url?.slice(prefix.length) ?? '';
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = authority;
}

/** Splits a target in origin form into path and query. */
export function parseTarget(url: string): RequestTarget {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/**
 * Parses a query string.
 *
 * @returns all values of each name, in their order.
 * @throws AppError `invalid_input` for an invalid escape.
 */
export function parseQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const [name = '', ...rest] = pair.replaceAll('+', ' ').split('=');
    const key = decode(name);
    const value = decode(rest.join('='));
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

function decode(text: string): string {
  const decoded = tryDecode(text);
  if (decoded === undefined) {
    throw new AppError('invalid_input', 'Expected percent-encoded UTF-8 text without NUL in the query.');
  }
  return decoded;
}

/** Decodes percent-encoded text; returns `undefined` if an escape is incomplete, not UTF-8, or NUL. */
export function tryDecode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}
