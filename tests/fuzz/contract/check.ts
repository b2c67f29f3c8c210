/** Compares responses with a contract, without code of the server and with a validator that the server does not use. */
import { dereference as collectSchemas, validate, type Schema } from '@cfworker/json-schema';
import {
  type ContractDocument,
  type ResponseObject,
  type SchemaObject,
  dereference,
} from '@trellis/codegen/openapi/contract';
import type { FuzzedContract, FuzzedOperation } from './document.js';
import type { WireResponse } from './wire.js';

export interface CheckedResponse {
  readonly method: string;
  /** `undefined` for a request that reaches no operation. */
  readonly operation: FuzzedOperation | undefined;
  readonly response: WireResponse;
}

/** Describes how a response violates the contract; returns `undefined` if it does not. */
export type Check = (checked: CheckedResponse) => string | undefined;

interface HeaderObject {
  readonly required?: boolean;
  readonly schema: SchemaObject;
}

/** Headers with a meaning for clients, which the contract must declare for every response that has them. */
const MEANINGFUL = ['content-disposition', 'etag', 'link', 'location', 'set-cookie', 'x-total-count'];

const EVENT_STREAM = 'text/event-stream';

export function createCheck(contract: FuzzedContract): Check {
  const document = withoutExamples(contract.document);
  const lookup = collectSchemas(document);

  function findSchemaProblem(schema: SchemaObject, value: unknown): string | undefined {
    const { valid, errors } = validate(value, schema as Schema, '2020-12', lookup);
    if (valid) return undefined;
    const { instanceLocation = '', error = '' } = errors.at(-1) ?? {};
    return `${instanceLocation}: ${error}`;
  }

  function checkHeaders(declared: ResponseObject['headers'] = {}, { headers }: WireResponse): string | undefined {
    const names = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
    const undeclared = MEANINGFUL.find((name) => headers[name] !== undefined && !names.has(name));
    if (undeclared !== undefined) return `the header ${undeclared} is not declared`;
    for (const [name, reference] of Object.entries(declared)) {
      const { required = false, schema } = dereference(document, reference) as HeaderObject;
      const sent = headers[name.toLowerCase()];
      if (sent === undefined && required) return `the header ${name} is missing`;
      const problem = sent === undefined ? undefined : findSchemaProblem(schema, coerce(schema, [sent].flat()[0]));
      if (problem !== undefined) return `the header ${name}: ${problem}`;
    }
    return undefined;
  }

  function checkBody(declared: ResponseObject['content'] = {}, { headers, text }: WireResponse): string | undefined {
    const types = Object.keys(declared);
    const type = headers['content-type']?.split(';')[0]?.trim();
    if (types.length === 0) return text === '' ? undefined : 'the contract declares no body';
    const media = type === undefined ? undefined : declared[type];
    if (media === undefined) return `the content type ${type ?? '(none)'} is not declared`;
    if (type === EVENT_STREAM) return checkEvent(media['x-event'] ?? true, text);
    if (type?.endsWith('json') !== true) return undefined;
    const body = parse(text);
    return body === undefined ? 'the body is not JSON' : findSchemaProblem(media.schema ?? true, body);
  }

  function checkEvent(schema: SchemaObject, text: string): string | undefined {
    // A stream sends no event at first if the client already knows the board.
    const data = /^data: ?(.*)$/m.exec(text)?.[1];
    if (data === undefined) return undefined;
    const event = parse(data);
    return event === undefined ? 'the data of an event is not JSON' : findSchemaProblem(schema, event);
  }

  /** The body of errors outside of operations, which all operations share. */
  function checkElsewhere({ method, response }: CheckedResponse): string | undefined {
    const { status, headers, text } = response;
    if (status === 204 && method === 'OPTIONS')
      return headers.allow === undefined ? 'OPTIONS without Allow' : undefined;
    if (status < 400) return undefined;
    if (status === 405 && headers.allow === undefined) return '405 without Allow';
    if (method === 'HEAD') return undefined;
    // Paths outside of the contract are pages, which respond to browsers in HTML.
    if (headers['content-type']?.startsWith('text/html') === true) return undefined;
    const problem = findSchemaProblem(document.components?.schemas?.Error ?? false, parse(text));
    return problem === undefined ? undefined : `the error body ${problem}`;
  }

  return (checked) => {
    const { method, operation, response } = checked;
    const { status, headers } = response;
    if (status === 500 || status === 503) return 'an unexpected failure';
    if (headers['x-request-id'] === undefined) return 'the header X-Request-Id is missing';
    if (operation === undefined) return status > 500 ? 'an unexpected failure' : checkElsewhere(checked);
    const declared = document.paths[operation.path]?.[operation.method]?.responses[status];
    if (declared === undefined) return 'the status is not declared';
    const { headers: named, content } = dereference<ResponseObject>(document, declared);
    const problem = checkHeaders(named, response);
    if (problem !== undefined || method === 'HEAD') return problem;
    return checkBody(content, response) ?? checkRequestId(response);
  };
}

/** The validator would interpret an `id` in an example as the name of a schema. */
function withoutExamples(document: ContractDocument): ContractDocument {
  const isExample = (key: string): boolean => key === 'example' || key === 'examples';
  const text = JSON.stringify(document, (key, value: unknown) => (isExample(key) ? undefined : value));
  return JSON.parse(text) as ContractDocument;
}

function checkRequestId({ status, headers, text }: WireResponse): string | undefined {
  if (status < 400) return undefined;
  const { requestId } = (parse(text) ?? {}) as { requestId?: unknown };
  return requestId === undefined || requestId === headers['x-request-id'] ? undefined : 'another requestId in the body';
}

/** JSON.stringify() escapes halves of surrogate pairs only. */
const LONE_SURROGATE = /\\ud[89a-f]/i;

/** The validator cannot name a property that has half of a surrogate pair in its name. */
function toWellFormed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [replaceSurrogates(name), toWellFormed(inner)]);
  return Object.fromEntries(entries) as unknown;
}

const replaceSurrogates = (name: string): string => name.replace(/\p{Surrogate}/gu, '\ufffd');

/** Returns `undefined` for text that is not JSON. */
function parse(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return LONE_SURROGATE.test(text) ? toWellFormed(value) : value;
  } catch {
    return undefined;
  }
}

function coerce(schema: SchemaObject, text: string | undefined): unknown {
  const isInteger = typeof schema === 'object' && schema.type === 'integer';
  return isInteger && /^\d+$/.test(text ?? '') ? Number(text) : text;
}
