import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';

/** A request target, still percent-encoded. */
export interface Target {
  readonly path: string;
  /** What follows the question mark. */
  readonly query: string;
}

/** Scheme and authority of a target in absolute form. */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(?=[/?]|$)/i;

/**
 * Brings a target in absolute form, as proxies send it, into origin form. Its authority takes the place of the Host
 * header (RFC 9112, 3.2.2), so whatever looks at Host afterwards sees the name that is really asked for.
 */
export function useTargetAuthority(request: IncomingMessage): void {
  const [prefix = '', authority] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  const rest = request.url?.slice(prefix.length) ?? '';
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = authority;
}

/** Reads the target of a request line in origin form. */
export function parseTarget(url: string): Target {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/**
 * @returns every value of each name, in the order that they came.
 * @throws AppError `invalid_input` when an escape does not stand for text.
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
    throw new AppError('invalid_input', 'Expected a query whose escapes are UTF-8 text without NUL.');
  }
  return decoded;
}

/** @returns `undefined` when an escape is cut short, is not UTF-8, or stands for NUL, which no name or value holds. */
export function tryDecode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}
