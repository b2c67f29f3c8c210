import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';
import type { OperationSpec, ParameterSpec } from './operation.js';
import { parseQuery } from './target.js';
import { quote } from './validation.js';

/** The parameters of one place, by name; absent ones are left out. */
export type Parameters = Readonly<Record<string, unknown>>;

/** Gives path parameters the types that the contract says. */
export function readPathParameters(operation: OperationSpec, params: Readonly<Record<string, string>>): Parameters {
  return read(operation, 'path', (name) => [params[name] ?? '']);
}

/** Reads what the contract knows of the query; other names are left alone, as clients may send more than we know. */
export function readQueryParameters(operation: OperationSpec, query: string): Parameters {
  if (query === '') return read(operation, 'query', () => []);
  const values = parseQuery(query);
  return read(operation, 'query', (name) => values.get(name) ?? []);
}

export function readHeaderParameters(operation: OperationSpec, { headersDistinct }: IncomingMessage): Parameters {
  return read(operation, 'header', (name) => headersDistinct[name.toLowerCase()] ?? []);
}

function read(
  { parameters }: OperationSpec,
  place: ParameterSpec['in'],
  find: (name: string) => readonly string[],
): Parameters {
  const found: Record<string, unknown> = {};
  for (const spec of parameters) {
    if (spec.in !== place) continue;
    const value = toValue(spec, find(spec.name));
    if (value !== undefined) found[spec.name] = value;
    else if (spec.required) throw invalid(spec, 'expected it; none came');
  }
  return found;
}

function toValue(spec: ParameterSpec, texts: readonly string[]): unknown {
  // An empty `?limit=` is a form's way to leave a field out.
  const given = spec.type === 'string' ? texts : texts.filter((text) => text !== '');
  if (given.length === 0) return undefined;
  const values = given.map((text) => coerce(spec, text));
  if (spec.list) return values;
  if (values.length > 1) throw invalid(spec, `expected it once; received it ${values.length} times`);
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
      throw invalid(spec, `expected true or false; received ${quote(text)}`);
    case 'integer':
      if (INTEGER.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
      throw invalid(spec, `expected an integer; received ${quote(text)}`);
    case 'number':
      if (NUMBER.test(text) && Number.isFinite(Number(text))) return Number(text);
      throw invalid(spec, `expected a number; received ${quote(text)}`);
  }
}

function invalid({ in: place, name }: ParameterSpec, problem: string): AppError {
  return new AppError('invalid_input', `The ${place} parameter "${name}": ${problem}.`, { field: name });
}
