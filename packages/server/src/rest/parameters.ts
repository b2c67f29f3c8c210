/** The parameters of a request: where their text is, and its encoding. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';
import { parseCookies } from '../http/headers.js';
import { parseQuery, splitQuery, tryDecode } from '../http/request.js';
import type { OperationSpec, ParameterSpec } from './operation.js';
import { readTextValues, type TextSource, type TextValues } from './text-values.js';

/** Converts path parameters to their types in the contract. @param params The texts, still encoded. */
export function readPathParameters(operation: OperationSpec, params: Readonly<Record<string, string>>): TextValues {
  const find = (name: string): readonly string[] => [params[name] ?? ''];
  return read(operation, 'path', {
    word: 'path parameter',
    isForm: false,
    names: () => Object.keys(params),
    find: (name) => find(name).map(decodePath),
    findEncoded: find,
    decode: decodePath,
  });
}

/** Reads the query parameters of the contract. Unknown ones are ignored, because newer clients may send them. */
export function readQueryParameters(operation: OperationSpec, query: string): TextValues {
  return read(operation, 'query', toFormSource(query, 'query parameter', 'query'));
}

export function readHeaderParameters(operation: OperationSpec, { headersDistinct }: IncomingMessage): TextValues {
  const find = (name: string): readonly string[] => headersDistinct[name.toLowerCase()] ?? [];
  return read(operation, 'header', {
    word: 'header parameter',
    isForm: false,
    names: () => Object.keys(headersDistinct),
    find,
    findEncoded: find,
    // Header values are not percent-encoded.
    decode: (text) => text,
  });
}

/** Reads the cookies that are parameters; `undefined` if the operation has none. Values that are not percent-encoded text are taken as they are. */
export function readCookieParameters(operation: OperationSpec, { headers }: IncomingMessage): TextValues | undefined {
  if (placesOf(operation).cookie.length === 0) return undefined;
  const decode = (text: string): string => tryDecode(text) ?? text;
  const cookies = parseCookies(headers.cookie ?? '');
  const find = (name: string): readonly string[] => cookies.get(name) ?? [];
  return read(operation, 'cookie', {
    word: 'cookie',
    isForm: true,
    names: () => cookies.keys(),
    find: (name) => find(name).map(decode),
    findEncoded: find,
    decode,
  });
}

/** Reads a query, or a body of type `application/x-www-form-urlencoded`, which is written in the same way. */
export function toFormSource(text: string, word: string, what: string): TextSource {
  const values = parseQuery(text, what);
  let encoded: ReadonlyMap<string, readonly string[]> | undefined;
  return {
    word,
    isForm: true,
    names: () => values.keys(),
    find: (name) => values.get(name) ?? [],
    findEncoded: (name) => (encoded ??= splitQuery(text)).get(name) ?? [],
    decode: (part) => tryDecode(part) ?? '',
  };
}

type ParametersByPlace = Readonly<Record<ParameterSpec['in'], readonly ParameterSpec[]>>;

const byPlace = new WeakMap<OperationSpec, ParametersByPlace>();

/** Returns the parameters of an operation in each place. */
function placesOf(operation: OperationSpec): ParametersByPlace {
  const known = byPlace.get(operation);
  if (known) return known;
  const at = (place: ParameterSpec['in']) => operation.parameters.filter((spec) => spec.in === place);
  const places = { path: at('path'), query: at('query'), header: at('header'), cookie: at('cookie') };
  byPlace.set(operation, places);
  return places;
}

const read = (operation: OperationSpec, place: ParameterSpec['in'], source: TextSource): TextValues =>
  readTextValues(placesOf(operation)[place], source);

function decodePath(text: string): string {
  const decoded = tryDecode(text);
  if (decoded !== undefined) return decoded;
  throw new AppError('invalid_input', 'Expected percent-encoded UTF-8 text without NUL in the path.');
}
