import { readFile } from 'node:fs/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { AppError } from '@trellis/core/errors';
import type * as Sdk from './sdk.js';
import { createMcpTools, type McpSender, type McpTool, type McpToolsOptions, type ToolContract } from './tools.js';

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
