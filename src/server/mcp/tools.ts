import { AppError } from '../../errors.js';
import type { Handler } from '../answer.js';
import type { HandlerResponse, OperationSpec } from '../operation.js';
import { requireValid } from '../validation.js';
import type { Sender } from './mcp.js';
import { toToolInput } from './tool-schemas.js';
import type { ContractDocument, ToolInput } from './tool-schemas.js';

/** A tool as agents see it, and what it does. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ToolInput;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  /**
   * Calls the operation that HTTP has too, with its checks, as whoever sent the message and with its headers.
   *
   * @throws AppError as the operation does.
   */
  call(input: unknown, sender: Sender): Promise<string>;
}

export interface ToolsOptions {
  readonly operations: readonly OperationSpec[];
  /** Those of the objects at least. */
  readonly handlers: object;
  readonly document: ContractDocument;
}

/** The readable copy is for a client that seals by itself, and knows the owner's key. */
const NOT_OFFERED = ['keep_readable_copy'];

const TOOLS = [
  ['inject', 'createObject', 'Store a new secret. The value has to be sealed (age) and then put in base64 before.'],
  [
    'get',
    'getObject',
    'Read the sealed value of a secret, in base64. Opening it takes an identity that it is sealed to.',
  ],
  ['update', 'updateObject', 'Replace the sealed value of a secret; the one before is kept as a version.'],
  ['delete', 'deleteObject', 'Delete a secret, with the versions that were kept of it.'],
  [
    'list',
    'listObjects',
    'List secrets with their tags and consumers, never their values, and how many there are in all.',
  ],
] as const;

/** The tools of the secrets service. */
export function createTools({ operations, handlers, document }: ToolsOptions): Tool[] {
  return TOOLS.map(([name, operationId, description]) => {
    const operation = operations.find(({ id }) => id === operationId);
    const handler = (handlers as Readonly<Record<string, Handler | undefined>>)[operationId];
    if (operation === undefined || handler === undefined) throw new Error(`Operation ${operationId} is missing.`);
    const inputSchema = toToolInput(document, operationId, NOT_OFFERED);
    return {
      name,
      description,
      inputSchema,
      annotations: {
        readOnlyHint: operation.method === 'get',
        destructiveHint: name === 'update' || name === 'delete',
      },
      async call(input, sender) {
        const parts = takeApart(operation, requireKnown(input, inputSchema));
        for (const part of ['params', 'query', 'body'] as const) requireValid(operation, part, parts[part]);
        return toText(await handler({ ...sender, ...parts }));
      },
    };
  });
}

function requireKnown(input: unknown, { properties }: ToolInput): Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new AppError('invalid_input', 'Expected the arguments of the tool as an object.', { field: 'arguments' });
  }
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(properties, name));
  if (unknown === undefined) return input as Readonly<Record<string, unknown>>;
  const names = Object.keys(properties).join(', ');
  throw new AppError('invalid_input', `Expected only the arguments ${names}.`, { field: unknown.slice(0, 40) });
}

/** The parts of a request, from the one object that a tool is given. */
function takeApart(operation: OperationSpec, input: Readonly<Record<string, unknown>>) {
  const params: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    const parameter = operation.parameters.find((each) => each.name === name && each.in !== 'header');
    if (parameter === undefined) body[name] = value;
    else if (parameter.in === 'path') params[name] = value;
    else query[name] = parameter.list ? [value] : value;
  }
  return { params, query, body: operation.body === undefined ? undefined : body };
}

function toText({ body, headers }: HandlerResponse): string {
  if (body === undefined) return 'Done.';
  if (body instanceof Uint8Array) return Buffer.from(body).toString('base64');
  return JSON.stringify(Array.isArray(body) ? { total: Number(headers?.['X-Total-Count']), objects: body } : body);
}
