/** The inputs of an operation: parameters and bodies in the form that the contract gives them, and their validation. */
import type { IncomingMessage } from 'node:http';
import { AppError, type ErrorCode } from '@trellis/core/errors';
import type { ErrorObject } from 'ajv';
import ucs2length from 'ajv/dist/runtime/ucs2length.js';
import {
  decodeText,
  findContentType,
  parseUntrustedJson,
  readBodyBytes,
  requireIdentity,
  requireNoNul,
} from '../http/body.js';
import { isJson, parseCookies, parseQuery, splitQuery, tryDecode } from '../http/request.js';
import { FORM_TYPE, MULTIPART_TYPE, readForm, readMultipart } from './forms.js';
import type { FormSpec, OperationSpec, ParameterSpec, RequestBodySpec, Validator } from './operation.js';
import { MAX_QUOTED, quoteForMessage, readTextValues, type TextSource, type TextValues } from './text-values.js';

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
  const find = (name: string): readonly string[] => {
    const values = headersDistinct[name.toLowerCase()] ?? [];
    return name.toLowerCase() === 'last-event-id' ? values.map(decodeUtf8) : values;
  };
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

/** Node reads headers as Latin-1. Browsers send the id of an event in UTF-8. */
const decodeUtf8 = (text: string): string => Buffer.from(text, 'latin1').toString();

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
function toFormSource(text: string, word: string, what: string): TextSource {
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

/** A body with its media type. */
export interface ReadBody {
  /** The media type as sent, without parameters. */
  readonly contentType: string;
  /** The media type or range of the contract. */
  readonly declared: string;
  readonly value: unknown;
  /** The part that the contract's schema describes: the value, or the fields of a form with files. */
  readonly validated: unknown;
}

/**
 * Reads a body: JSON as a value, `text/*` as text, forms as objects, any other type as bytes.
 *
 * @returns `undefined` if the request has no body and none is required.
 * @throws AppError `unsupported_media_type`, `too_large` (before a byte is read if the length is declared),
 * `malformed_body`, or `invalid_input` for a field of a form.
 */
export async function readBody(request: IncomingMessage, spec: RequestBodySpec): Promise<ReadBody | undefined> {
  const type = findContentType(request, spec);
  const form = type && spec.forms?.[type.declared];
  if (type?.type === MULTIPART_TYPE && form !== undefined) {
    requireIdentity(request);
    const { value, fields } = await readMultipart(request, { ...form, maxBytes: spec.maxBytes });
    return { contentType: type.type, declared: type.declared, value, validated: fields };
  }
  const bytes = await readBodyBytes(request, spec);
  if (type === undefined || bytes === undefined) return undefined;
  const value = toValue(bytes, type.type, form);
  return { contentType: type.type, declared: type.declared, value, validated: value };
}

function toValue(bytes: Buffer, type: string, form: FormSpec | undefined): unknown {
  if (isJson(type)) return parseUntrustedJson(bytes);
  if (form !== undefined && type === FORM_TYPE) {
    return readForm(form.fields, toFormSource(decodeText(bytes), 'field', 'body'));
  }
  if (!type.startsWith('text/')) return bytes;
  const text = decodeText(bytes);
  requireNoNul(text);
  return text;
}

type Part = 'body' | 'cookies' | 'headers' | 'params' | 'query';

/** The keywords for size limits, whose violation is 422 in operations that document both 400 and 422. */
const LIMITS: Readonly<Record<Part, readonly string[]>> = {
  params: ['maxLength'],
  query: ['maxLength'],
  headers: ['maxLength'],
  cookies: ['maxLength'],
  body: ['maxItems', 'maxLength', 'maximum'],
};

/**
 * Validates one part of a request against the contract. For a body, exceeded limits are reported before missing or
 * malformed fields.
 *
 * @param mediaType The media type of a body, if the operation accepts several.
 * @throws AppError with the name of the field: `invalid_input`, or `unprocessable` if the operation documents 422. If
 * it documents 400 too, `unprocessable` only means that a value exceeds a limit.
 */
export function assertValid(operation: OperationSpec, part: Part, value: unknown, mediaType = ''): void {
  const { validate } = operation;
  if (part === 'body') requireFitting(operation, { part, validate: validate.limits }, value);
  const own = part === 'body' ? validate.bodies?.[mediaType] : undefined;
  requireFitting(operation, { part, validate: own ?? validate[part] }, value);
}

interface Check {
  readonly part: Part;
  readonly validate: Validator | undefined;
}

function requireFitting(operation: OperationSpec, { part, validate }: Check, value: unknown): void {
  if (validate === undefined || validate(value)) return;
  const error = pickError(validate.errors ?? []);
  const field = fieldOf(error);
  const message = toMessage(error, field || `the ${part}`, describe(valueAt(value, error), part));
  throw new AppError(codeFor(operation, part, error), message, { field: field || part });
}

function toMessage(error: ErrorObject, field: string, received: string): string {
  if (error.keyword === 'required') return `The field "${field}" is required.`;
  if (error.keyword === 'dependentRequired')
    return `The field "${field}" is required beside "${String(error.params.property)}".`;
  const { propertyName: name } = error;
  if (name === undefined) return `Expected ${field} ${expectation(error)}; ${received}.`;
  return `Expected the property name ${quoteForMessage(name)} of ${field} ${expectation(error)}.`;
}

function codeFor({ responses }: OperationSpec, part: Part, { keyword }: ErrorObject): ErrorCode {
  if (responses[422] === undefined) return 'invalid_input';
  if (responses[400] === undefined) return 'unprocessable';
  return LIMITS[part].includes(keyword) ? 'unprocessable' : 'invalid_input';
}

/**
 * Picks the error with the longest path, which is the most specific one if several alternatives failed. Alternatives that
 * are constants are the values of an enum. If they tag objects, an error beside the tag is that of the alternative which is
 * meant. If a constant is only one of the reasons, the error is that of the choice.
 */
function pickError(errors: readonly ErrorObject[]): ErrorObject {
  const sorted = [...errors].sort((a, b) => b.instancePath.length - a.instancePath.length);
  const [first] = sorted;
  if (first === undefined) return { keyword: 'schema', instancePath: '', schemaPath: '', params: {} };
  const { instancePath: tag } = first;
  const beside = sorted.filter(({ instancePath }) => instancePath === tag);
  const value = beside.find(({ keyword }) => VALUES.includes(keyword));
  if (value === undefined) return first;
  const findChoice = (place: string): ErrorObject | undefined =>
    sorted.find(({ keyword, instancePath }) => CHOICES.includes(keyword) && instancePath === place);
  const others = sorted.filter(({ keyword, params }) => !NEUTRAL.includes(keyword) && params.type !== 'null');
  if (others.some((other) => beside.includes(other))) return findChoice(tag) ?? first;
  const parent = tag.slice(0, Math.max(tag.lastIndexOf('/'), 0));
  const sibling = others.find(({ instancePath }) => instancePath.startsWith(`${parent}/`));
  const isOpen = others.some(({ keyword, instancePath }) => instancePath === parent && keyword !== 'type');
  if (tag !== '' && (sibling !== undefined || isOpen)) return sibling ?? findChoice(parent) ?? first;
  return { ...value, keyword: 'enum', params: { allowedValues: listAllowed(beside) } };
}

const VALUES = ['const', 'enum'];
const CHOICES = ['anyOf', 'oneOf'];
/** Keywords whose errors only say that a value is not one of the alternatives. */
const NEUTRAL = [...VALUES, ...CHOICES, 'if'];

function listAllowed(errors: readonly ErrorObject[]): unknown[] {
  const allowed = errors.flatMap(({ keyword, params: { allowedValue, allowedValues } }) =>
    keyword === 'const' ? [allowedValue as unknown] : ((allowedValues ?? []) as unknown[]),
  );
  return [...new Set(allowed)];
}

function fieldOf(error: ErrorObject): string {
  return pathOf(error).join('.');
}

function pathOf({ instancePath, params }: ErrorObject): string[] {
  const segments = instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, unknown>;
  const last = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return typeof last === 'string' ? [...segments, last.slice(0, MAX_QUOTED)] : segments;
}

function expectation({ keyword, params, message }: ErrorObject): string {
  const { limit, type, allowedValues, format, multipleOf } = params as Record<string, unknown>;
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
    case 'false schema':
      return 'to be absent';
    case 'type':
      return `to be of type ${String(type)}`;
    case 'enum':
      return expectOneOf(allowedValues as unknown[]);
    case 'format':
      return `to be a ${String(format)}`;
    case 'anyOf':
      return 'to match one of its alternatives';
    case 'oneOf':
      return 'to match exactly one of its alternatives';
    case 'multipleOf':
      return `to be a multiple of ${String(multipleOf)}`;
    case 'minLength':
      return `to have at least ${String(limit)} characters`;
    case 'maxLength':
      return `to have at most ${String(limit)} characters`;
    default:
      return (message ?? 'to match its schema').replace(/^must\b/, 'to').replace('to NOT', 'not to');
  }
}

/** Says which values an enum allows. Some have thousands of values, and others none. */
function expectOneOf(values: readonly unknown[]): string {
  if (values.length === 0) return 'to be absent';
  const listed = values.slice(0, MAX_LISTED).map(showValue).join(', ');
  return `to be one of ${listed}${values.length > MAX_LISTED ? ` and ${values.length - MAX_LISTED} others` : ''}`;
}

/** Quotes texts that would not be seen as such. */
const showValue = (value: unknown): string =>
  typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);

const MAX_LISTED = 50;

function valueAt(value: unknown, error: ErrorObject): unknown {
  let current = value;
  for (const name of pathOf(error)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}

/**
 * Describes a value for a message. Bodies and headers may contain secrets, so only the length of their text is shown.
 */
function describe(value: unknown, part: Part): string {
  if (value === undefined) return 'received none';
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return `received ${String(value)}`;
  if (typeof value === 'string') {
    if (part === 'query' || part === 'params') return `received ${quoteForMessage(value)}`;
    // As in the limits, an emoji is one character, or a few.
    const length = ucs2length.default(value);
    return `received ${length === 1 ? '1 character' : `${length} characters`}`;
  }
  return Array.isArray(value) ? `received a list of ${value.length}` : 'received an object';
}
