import type { IncomingMessage } from 'node:http';
import { AppError } from '../core/errors.js';
import type { OperationSpec, ParameterSpec } from './operation.js';
import { parseQuery } from './target.js';
import { quoteForMessage } from './validation.js';

/** The parameters of the path, query or headers by name, without absent ones. */
export type ParameterValues = Readonly<Record<string, unknown>>;

/** Converts path parameters to their types in the contract. */
export function readPathParameters(
  operation: OperationSpec,
  params: Readonly<Record<string, string>>,
): ParameterValues {
  return read(operation, 'path', (name) => [params[name] ?? '']);
}

/** Reads the query parameters of the contract. Unknown ones are ignored, because newer clients may send them. */
export function readQueryParameters(operation: OperationSpec, query: string): ParameterValues {
  if (query === '') return read(operation, 'query', () => []);
  const values = parseQuery(query);
  return read(operation, 'query', (name) => values.get(name) ?? []);
}

export function readHeaderParameters(operation: OperationSpec, { headersDistinct }: IncomingMessage): ParameterValues {
  return read(operation, 'header', (name) => headersDistinct[name.toLowerCase()] ?? []);
}

function read(
  { parameters }: OperationSpec,
  place: ParameterSpec['in'],
  find: (name: string) => readonly string[],
): ParameterValues {
  const found: Record<string, unknown> = {};
  for (const spec of parameters) {
    if (spec.in !== place) continue;
    const value = toValue(spec, find(spec.name));
    if (value !== undefined) found[spec.name] = value;
    else if (spec.required) throw invalid(spec, 'is required');
  }
  return found;
}

function toValue(spec: ParameterSpec, texts: readonly string[]): unknown {
  // Forms send `?limit=` for an empty field.
  const given = spec.type === 'string' ? texts : texts.filter((text) => text !== '');
  if (given.length === 0) return undefined;
  const values = given.map((text) => coerce(spec, text));
  if (spec.list) return values;
  if (values.length > 1) throw invalid(spec, `must not be repeated; received it ${values.length} times`);
  return values[0];
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function coerce(spec: ParameterSpec, text: string): boolean | number | string {
  switch (spec.type) {
    case 'string':
      return text;
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true';
      throw invalid(spec, `must be true or false; received ${quoteForMessage(text)}`);
    case 'integer':
      if (INTEGER.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
      throw invalid(spec, `must be an integer; received ${quoteForMessage(text)}`);
    case 'number':
      if (NUMBER.test(text) && Number.isFinite(Number(text))) return Number(text);
      throw invalid(spec, `must be a number; received ${quoteForMessage(text)}`);
  }
}

function invalid({ in: place, name }: ParameterSpec, problem: string): AppError {
  return new AppError('invalid_input', `The ${place} parameter "${name}" ${problem}.`, { field: name });
}
