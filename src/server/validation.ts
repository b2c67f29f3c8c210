import type { ErrorObject } from 'ajv';
import { AppError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import type { OperationSpec, Validator } from './operation.js';

type Part = 'body' | 'headers' | 'params' | 'query';

/** Longer texts from outside are cut where a message quotes them. */
const MAX_QUOTED = 40;

/** Refusals of these are about size, which an operation may answer with 422 beside its 400. */
const LIMITS: Readonly<Record<Part, readonly string[]>> = {
  params: ['maxLength'],
  query: ['maxLength'],
  headers: ['maxLength'],
  body: ['maxItems', 'maxLength', 'maximum'],
};

/**
 * Holds one part of a request to the contract. Of a body, what is beyond a limit
 * is told before what is missing or malformed.
 *
 * @throws AppError with the name of the field: `unprocessable` where the
 * operation documents 422 (and, when it documents 400 too, the value is merely
 * beyond a limit), otherwise `invalid_input`.
 */
export function requireValid(operation: OperationSpec, part: Part, value: unknown): void {
  const { validate } = operation;
  if (part === 'body') requireFitting(operation, { part, validate: validate.limits }, value);
  requireFitting(operation, { part, validate: validate[part] }, value);
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
  throw new AppError(
    codeFor(operation, part, error),
    `Expected ${field || `the ${part}`} ${expectation(error)}; ${received}.`,
    {
      field: field || part,
    },
  );
}

/** Quotes text that a caller sent in a URL. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

function codeFor({ responses }: OperationSpec, part: Part, { keyword }: ErrorObject): ErrorCode {
  if (responses[422] === undefined) return 'invalid_input';
  if (responses[400] === undefined) return 'unprocessable';
  return LIMITS[part].includes(keyword) ? 'unprocessable' : 'invalid_input';
}

/** Of alternatives that all failed, the one that came closest says most. */
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
    case 'required':
      return 'to be there';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'to be absent';
    case 'type':
      return `to be of type ${String(type)}`;
    case 'enum':
      return `to be one of ${(allowedValues as unknown[]).join(', ')}`;
    case 'format':
      return `to be a ${String(format)}`;
    case 'minLength':
      return `to have at least ${String(limit)} characters`;
    case 'maxLength':
      return `to have at most ${String(limit)} characters`;
    default:
      return (message ?? 'to fit its schema').replace(/^must\b/, 'to').replace('to NOT', 'not to');
  }
}

function valueAt(value: unknown, error: ErrorObject): unknown {
  let current = value;
  for (const name of pathOf(error)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}

/** Bodies and headers may hold secrets: of their text only the length is told. */
function describe(value: unknown, part: Part): string {
  if (value === undefined) return 'it is missing';
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return `received ${String(value)}`;
  if (typeof value === 'string') {
    return part === 'query' || part === 'params' ? `received ${quote(value)}` : `received ${value.length} characters`;
  }
  return Array.isArray(value) ? `received a list of ${value.length}` : 'received an object';
}
