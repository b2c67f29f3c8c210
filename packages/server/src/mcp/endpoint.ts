import { readFile } from 'node:fs/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { AppError } from '@trellis/core/errors';
import { authorize, type Schemes } from '../http/security.js';
import type { OperationHandler } from '../rest/handle-operation.js';
import { assertValid } from '../rest/input.js';
import type { HandlerRequest, HandlerResponse, HttpMethod, OperationSpec } from '../rest/operation.js';
import type * as Sdk from './sdk.js';

/** A stateless endpoint of the Model Context Protocol. */
export interface Mcp {
  /**
   * Handles a message or a batch of messages.
   *
   * @returns the response to a request, or the responses to a batch; `undefined` for messages that need no response.
   * @throws AppError `invalid_input` for an invalid message or an unsupported protocol version.
   */
  handle(message: unknown, request: McpSender): Promise<object | undefined>;
}

export interface McpOptions extends Omit<McpToolsOptions, 'document'> {
  /** The file of the bundled contract. */
  readonly document: URL;
  /** The name of the server. */
  readonly name: string;
  /** Instructions for agents. */
  readonly instructions: string;
  /** The running release. */
  readonly version: string;
}

type SdkModule = typeof Sdk;

/** Far more than agents send at once. Messages of a batch are handled one after the other. */
const MAX_BATCH = 20;

interface Protocol extends SdkModule, Pick<McpOptions, 'instructions' | 'name' | 'version'> {
  readonly tools: readonly McpTool[];
}

export function createMcp(options: McpOptions): Mcp {
  // Loading takes a fifth of a second, so it is deferred to the first message.
  let loading: Promise<Protocol> | undefined;
  return {
    async handle(body, request) {
      const protocol = await (loading ??= load(options));
      requireVersion(protocol, request);
      const isBatch = Array.isArray(body);
      const messages = requireMessages(protocol, isBatch ? (body as unknown[]) : [body]);
      const answers: object[] = [];
      for (const message of messages) {
        const answer = await answerOne(protocol, message, request);
        if (answer) answers.push(answer);
      }
      return isBatch && answers.length > 0 ? answers : answers[0];
    },
  };
}

async function load(options: McpOptions): Promise<Protocol> {
  const { name, instructions, version } = options;
  const document = JSON.parse(await readFile(options.document, 'utf8')) as ToolContract;
  return {
    ...(await import('./sdk.js')),
    tools: createMcpTools({ ...options, document }),
    name,
    instructions,
    version,
  };
}

function requireVersion({ SUPPORTED_PROTOCOL_VERSIONS }: Protocol, { headers }: McpSender): void {
  const version = (headers as Readonly<Record<string, string | undefined>>)['mcp-protocol-version'];
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return;
  throw new AppError(
    'invalid_input',
    `Expected MCP-Protocol-Version to be one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
    {
      field: 'MCP-Protocol-Version',
    },
  );
}

function requireMessages({ JSONRPCMessageSchema }: Protocol, bodies: readonly unknown[]): JSONRPCMessage[] {
  const messages = bodies.map((body) => JSONRPCMessageSchema.safeParse(body).data);
  if (bodies.length >= 1 && bodies.length <= MAX_BATCH && messages.every((message) => message !== undefined)) {
    return messages;
  }
  throw new AppError('invalid_input', `Expected a JSON-RPC 2.0 message, or a batch of 1 to ${MAX_BATCH} messages.`, {
    field: 'body',
  });
}

/** Creates a server for each message, so that no state is shared between clients. */
async function answerOne(protocol: Protocol, message: JSONRPCMessage, sender: McpSender) {
  const internalErrors: unknown[] = [];
  const { server } = createServer(protocol, sender, (error) => internalErrors.push(error));
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async () => undefined,
  };
  try {
    const answered = new Promise<JSONRPCMessage>((resolve) => (transport.send = async (answer) => resolve(answer)));
    await server.connect(transport);
    transport.onmessage?.(message);
    // Notifications and responses get no response.
    if (!('method' in message && 'id' in message)) return undefined;
    const answer = await answered;
    if (internalErrors.length > 0) throw internalErrors[0];
    return answer;
  } finally {
    await server.close();
  }
}

/** @param onInternalError Receives internal errors, whose details agents must not see. */
function createServer(protocol: Protocol, sender: McpSender, onInternalError: (error: unknown) => void): McpServer {
  const { McpServer, ListToolsRequestSchema, CallToolRequestSchema, McpError, ErrorCode } = protocol;
  const { tools, name, version } = protocol;
  const options = { capabilities: { tools: {} }, instructions: protocol.instructions };
  const mcp = new McpServer({ name, version }, options);
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toListed) }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool)
      throw new McpError(
        ErrorCode.InvalidParams,
        `Expected the tool to be one of ${tools.map(({ name }) => name).join(', ')}`,
      );
    try {
      return { content: [{ type: 'text' as const, text: await tool.call(params.arguments ?? {}, sender) }] };
    } catch (error) {
      if (!(error instanceof AppError)) onInternalError(error);
      return { content: [{ type: 'text' as const, text: describe(error) }], isError: true };
    }
  });
  return mcp;
}

const toListed = ({ name, description, inputSchema, annotations }: McpTool) => ({
  name,
  description,
  inputSchema,
  annotations,
});

/** Formats an error like the error body of the contract. */
function describe(error: unknown): string {
  if (!(error instanceof AppError)) return '';
  const { message, code, field } = error;
  return JSON.stringify({ error: message, code, ...(field !== undefined && { field }) });
}

/** The origin of a message, with its headers. */
type McpSender = Pick<HandlerRequest, 'address' | 'caller' | 'headers' | 'requestId' | 'signal'>;

/** A tool with its description for agents and its implementation. */
interface McpTool {
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
interface RejectedCall {
  readonly operation: string;
  readonly input: unknown;
  readonly sender: McpSender;
  readonly error: AppError;
}

/** An operation of the contract that is a tool. */
interface ToolSpec {
  readonly name: string;
  readonly operationId: string;
  /** The description for agents. */
  readonly description: string;
}

interface McpToolsOptions {
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
function createMcpTools(options: McpToolsOptions): McpTool[] {
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
interface ToolContract {
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
