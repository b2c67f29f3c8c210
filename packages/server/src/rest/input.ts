/** Validation of the parts of a request. */
import { AppError, type ErrorCode } from '@trellis/core/errors';
import type { ErrorObject } from 'ajv';
import type { OperationSpec, Validator } from './operation.js';
import { MAX_QUOTED, quoteForMessage } from './text-values.js';

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
  const received = describe(valueAt(value, error), part);
  const message =
    error.keyword === 'required'
      ? `The field "${field}" is required.`
      : `Expected ${field || `the ${part}`} ${expectation(error)}; ${received}.`;
  throw new AppError(codeFor(operation, part, error), message, { field: field || part });
}

function codeFor({ responses }: OperationSpec, part: Part, { keyword }: ErrorObject): ErrorCode {
  if (responses[422] === undefined) return 'invalid_input';
  if (responses[400] === undefined) return 'unprocessable';
  return LIMITS[part].includes(keyword) ? 'unprocessable' : 'invalid_input';
}

/** Picks the error with the longest path, which is the most specific one if several alternatives failed. */
function pickError(errors: readonly ErrorObject[]): ErrorObject {
  const [first] = [...errors].sort((a, b) => b.instancePath.length - a.instancePath.length);
  return first ?? { keyword: 'schema', instancePath: '', schemaPath: '', params: {} };
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
  const { limit, type, allowedValues, format } = params as Record<string, unknown>;
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'to be absent';
    case 'type':
      return `to be of type ${String(type)}`;
    case 'enum':
      return `to be one of ${listValues(allowedValues as unknown[])}`;
    case 'format':
      return `to be a ${String(format)}`;
    case 'minLength':
      return `to have at least ${String(limit)} characters`;
    case 'maxLength':
      return `to have at most ${String(limit)} characters`;
    default:
      return (message ?? 'to match its schema').replace(/^must\b/, 'to').replace('to NOT', 'not to');
  }
}

/** Lists the values of an enum, of which some have thousands. */
function listValues(values: readonly unknown[]): string {
  const listed = values.slice(0, MAX_LISTED).join(', ');
  return values.length > MAX_LISTED ? `${listed} and ${values.length - MAX_LISTED} others` : listed;
}

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
    return part === 'query' || part === 'params'
      ? `received ${quoteForMessage(value)}`
      : `received ${value.length === 1 ? '1 character' : `${value.length} characters`}`;
  }
  return Array.isArray(value) ? `received a list of ${value.length}` : 'received an object';
}
