import { AppError } from '@trellis/core/errors';
import { authorize, type Schemes } from '../http/security.js';
import type { OperationHandler } from '../rest/handle-operation.js';
import { assertValid } from '../rest/input.js';
import type { HandlerRequest, HandlerResponse, HttpMethod, OperationSpec } from '../rest/operation.js';

/** The origin of a message, with its headers. */
export type McpSender = Pick<HandlerRequest, 'address' | 'caller' | 'headers' | 'requestId' | 'signal'>;

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

/** A call of a tool that ended in an error. */
export interface RejectedCall {
  readonly operation: string;
  readonly input: unknown;
  readonly sender: McpSender;
  readonly error: AppError;
}

/** An operation of the contract that is a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly operationId: string;
  /** The description for agents. */
  readonly description: string;
}

export interface McpToolsOptions {
  readonly tools: readonly ToolSpec[];
  /** Fields of operations that tools do not have. */
  readonly omittedFields: readonly string[];
  readonly operations: readonly OperationSpec[];
  /** The security schemes of the operations; absent if every caller of the endpoint may call all tools. */
  readonly schemes?: Schemes;
  /** Receives the errors of tools, which are part of a successful response. */
  readonly onRejected?: (rejected: RejectedCall) => void;
  /** The handlers of the operations that are tools. */
  readonly handlers: object;
  readonly document: ToolContract;
}

const DESTRUCTIVE: readonly HttpMethod[] = ['delete', 'patch', 'put'];

/** @throws Error for a tool whose operation or handler is missing. */
export function createMcpTools(options: McpToolsOptions): McpTool[] {
  const { tools, omittedFields, operations, schemes, onRejected, handlers, document } = options;
  return tools.map(({ name, operationId, description }) => {
    const operation = operations.find(({ id }) => id === operationId);
    const handler = (handlers as Readonly<Record<string, OperationHandler | undefined>>)[operationId];
    if (operation === undefined || handler === undefined) throw new Error(`Operation ${operationId} is missing.`);
    const inputSchema = toToolInput(document, operationId, omittedFields);
    return {
      name,
      description,
      inputSchema,
      annotations: {
        readOnlyHint: operation.method === 'get',
        destructiveHint: DESTRUCTIVE.includes(operation.method),
      },
      async call(input, sender) {
        try {
          if (schemes !== undefined) await authorize(operation, schemes, async () => sender.caller);
          const parts = splitInput(operation, requireKnown(input, inputSchema));
          for (const part of ['params', 'query', 'body'] as const) assertValid(operation, part, parts[part]);
          return toText(await handler({ ...sender, ...parts }));
        } catch (error) {
          if (error instanceof AppError) onRejected?.({ operation: operationId, input, sender, error });
          throw error;
        }
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
    const parameter = operation.parameters.find((each) => each.name === name && isToolInput(each));
    if (parameter === undefined) body[name] = value;
    else if (parameter.in === 'path') params[name] = value;
    else query[name] = parameter.list === true ? [value] : value;
  }
  return { params, query, body: operation.body === undefined ? undefined : body };
}

function toText({ body, headers }: HandlerResponse): string {
  if (body === undefined) return 'Done.';
  if (body instanceof Uint8Array) return Buffer.from(body).toString('base64');
  return JSON.stringify(Array.isArray(body) ? { total: Number(headers?.['X-Total-Count']), objects: body } : body);
}

/** A JSON Schema. */
type ToolSchema = Readonly<Record<string, unknown>>;

/** The parts of an OpenAPI document that define tools. */
export interface ToolContract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: ToolSchema;
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: ToolSchema }>> };
}

/** The input of a tool: one flat object with the path and query parameters and the body fields of its operation. */
interface ToolInput {
  readonly type: 'object';
  readonly properties: Record<string, ToolSchema>;
  readonly required: string[];
  readonly additionalProperties: false;
}

/**
 * Derives the input schema of a tool from the operation in the contract, with the same limits and descriptions.
 *
 * @param without Fields to omit.
 * @throws Error if the contract has no such operation.
 */
function toToolInput(document: ToolContract, operationId: string, without: readonly string[]): ToolInput {
  const { parameters, body } = findOperation(document, operationId);
  const accepted = parameters.filter(isToolInput);
  const properties = new Map<string, ToolSchema>(
    accepted.map(({ name, description, schema }) => [name, { ...one(schema), ...(description && { description }) }]),
  );
  for (const [name, schema] of Object.entries((body?.properties ?? {}) as Record<string, ToolSchema>)) {
    properties.set(name, schema);
  }
  for (const name of without) properties.delete(name);
  const required = [...accepted.filter((each) => each.required).map(({ name }) => name), ...toNames(body?.required)];
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Headers and cookies are those of the message. */
const isToolInput = (parameter: { readonly in: string }): boolean => ['path', 'query'].includes(parameter.in);

/** Tools accept one value for a repeatable query parameter. */
const one = (schema: ToolSchema): ToolSchema => (schema.type === 'array' ? (schema.items as ToolSchema) : schema);

const toNames = (required: unknown): string[] => (Array.isArray(required) ? (required as string[]) : []);

function findOperation(document: ToolContract, operationId: string) {
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path) as Operation[]) {
      if (operation.operationId !== operationId) continue;
      const all = [...((path.parameters ?? []) as unknown[]), ...(operation.parameters ?? [])];
      const [content] = Object.values(operation.requestBody?.content ?? {});
      return {
        parameters: all.map((parameter) => resolve(document, parameter) as Parameter),
        body: content && (resolve(document, content.schema) as ToolSchema),
      };
    }
  }
  throw new Error(`The contract has no operation ${operationId}.`);
}

/** Replaces references by their targets. The operations of tools have no recursive schemas. */
function resolve(document: ToolContract, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Readonly<Record<string, unknown>>;
  const own = Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, resolve(document, item)]));
  return typeof $ref === 'string' ? { ...(resolve(document, follow(document, $ref)) as object), ...own } : own;
}

function follow(document: ToolContract, reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], document);
}
