import { AppError } from '../../core/errors.js';
import type { OperationHandler } from '../handle-operation.js';
import type { HandlerResponse, OperationSpec } from '../operation.js';
import { assertValid } from '../validation.js';
import type { McpSender } from './mcp.js';
import { toToolInput } from './tool-schemas.js';
import type { ToolContract, ToolInput } from './tool-schemas.js';

/** A tool with its description for agents and its implementation. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ToolInput;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  /**
   * Validates the input and calls the operation of the contract on behalf of the sender, with the headers of the
   * message.
   *
   * @throws AppError like the operation.
   */
  call(input: unknown, sender: McpSender): Promise<string>;
}

export interface McpToolsOptions {
  readonly operations: readonly OperationSpec[];
  /** The handlers of the secrets operations that are tools. */
  readonly handlers: object;
  readonly document: ToolContract;
}

/** Readable copies are for clients that seal values themselves and know the owner's public key. */
const OMITTED_FIELDS = ['keep_readable_copy'];

const TOOLS = [
  ['inject', 'createObject', 'Store a new secret. Seal the value (encrypt it with age) and encode it in base64 first.'],
  [
    'get',
    'getObject',
    'Read the sealed value of a secret in base64. Opening it requires the identity of one of its recipients.',
  ],
  ['update', 'updateObject', 'Replace the sealed value of a secret; the previous value becomes a version.'],
  ['delete', 'deleteObject', 'Delete a secret with all its versions.'],
  ['list', 'listObjects', 'List secrets with their tags and consumers, without values, and the total count.'],
] as const;

/** The tools of the secrets service. */
export function createMcpTools({ operations, handlers, document }: McpToolsOptions): McpTool[] {
  return TOOLS.map(([name, operationId, description]) => {
    const operation = operations.find(({ id }) => id === operationId);
    const handler = (handlers as Readonly<Record<string, OperationHandler | undefined>>)[operationId];
    if (operation === undefined || handler === undefined) throw new Error(`Operation ${operationId} is missing.`);
    const inputSchema = toToolInput(document, operationId, OMITTED_FIELDS);
    return {
      name,
      description,
      inputSchema,
      annotations: {
        readOnlyHint: operation.method === 'get',
        destructiveHint: name === 'update' || name === 'delete',
      },
      async call(input, sender) {
        const parts = splitInput(operation, requireKnown(input, inputSchema));
        for (const part of ['params', 'query', 'body'] as const) assertValid(operation, part, parts[part]);
        return toText(await handler({ ...sender, ...parts }));
      },
    };
  });
}

function requireKnown(input: unknown, { properties }: ToolInput): Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new AppError('invalid_input', 'Expected the arguments of the tool to be an object.', { field: 'arguments' });
  }
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(properties, name));
  if (unknown === undefined) return input as Readonly<Record<string, unknown>>;
  const names = Object.keys(properties).join(', ');
  throw new AppError('invalid_input', `Unknown argument; the arguments of this tool are ${names}.`, {
    field: unknown.slice(0, 40),
  });
}

/** Splits the input of a tool into the parts of a request. */
function splitInput(operation: OperationSpec, input: Readonly<Record<string, unknown>>) {
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
