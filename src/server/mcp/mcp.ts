import { readFile } from 'node:fs/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { AppError } from '../../errors.js';
import type { HandlerRequest } from '../operation.js';
import type { ContractDocument } from './tool-schemas.js';
import { createTools } from './tools.js';
import type { Tool, ToolsOptions } from './tools.js';

/** What answers messages of the Model Context Protocol, each by itself: no session is kept. */
export interface Mcp {
  /**
   * @returns the answer to a request, or the answers to a batch; `undefined` where there is nothing to answer.
   * @throws AppError `invalid_input` for what is no message, or of a version that is not spoken.
   */
  answer(message: unknown, request: Sender): Promise<object | undefined>;
}

/** Who sent a message, and what with. */
export type Sender = Pick<HandlerRequest, 'address' | 'caller' | 'headers' | 'requestId' | 'signal'>;

export interface McpOptions extends Omit<ToolsOptions, 'document'> {
  /** The file of the contract, bundled. */
  readonly document: URL;
  /** The release that runs. */
  readonly version: string;
}

/** Far more than agents put together; each is worked on in its turn. */
const MAX_BATCH = 20;

const INSTRUCTIONS = `Values are sealed with age before they are stored and opened after they were read, never here.
A secret's name may have variants, one for each group of consumers; "id" tells which is meant.`;

interface Protocol extends Awaited<ReturnType<typeof importProtocol>> {
  readonly tools: readonly Tool[];
  readonly version: string;
}

export function createMcp(options: McpOptions): Mcp {
  // A fifth of a second, which only those wait for who are the first to speak it.
  let loading: Promise<Protocol> | undefined;
  return {
    async answer(body, request) {
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

async function load({ operations, handlers, document, version }: McpOptions): Promise<Protocol> {
  const contract = JSON.parse(await readFile(document, 'utf8')) as ContractDocument;
  const tools = createTools({ operations, handlers, document: contract });
  return { ...(await importProtocol()), tools, version };
}

async function importProtocol() {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  return { McpServer, ...(await import('@modelcontextprotocol/sdk/types.js')) };
}

function requireVersion({ SUPPORTED_PROTOCOL_VERSIONS }: Protocol, { headers }: Sender): void {
  const version = (headers as Readonly<Record<string, string | undefined>>)['mcp-protocol-version'];
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return;
  throw new AppError('invalid_input', `Expected one of the versions ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`, {
    field: 'MCP-Protocol-Version',
  });
}

function requireMessages({ JSONRPCMessageSchema }: Protocol, bodies: readonly unknown[]): JSONRPCMessage[] {
  const messages = bodies.map((body) => JSONRPCMessageSchema.safeParse(body).data);
  if (bodies.length >= 1 && bodies.length <= MAX_BATCH && messages.every((message) => message !== undefined)) {
    return messages;
  }
  throw new AppError('invalid_input', `Expected a JSON-RPC 2.0 message, or 1 to ${MAX_BATCH} of them.`, {
    field: 'body',
  });
}

/** A server for one message: what it would keep of one client is nothing to another. */
async function answerOne(protocol: Protocol, message: JSONRPCMessage, sender: Sender) {
  const defects: unknown[] = [];
  const { server } = createServer(protocol, sender, (defect) => defects.push(defect));
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async () => undefined,
  };
  try {
    const answered = new Promise<JSONRPCMessage>((resolve) => (transport.send = async (answer) => resolve(answer)));
    await server.connect(transport);
    transport.onmessage?.(message);
    // Notifications and responses are taken, and that is all.
    if (!('method' in message && 'id' in message)) return undefined;
    const answer = await answered;
    if (defects.length > 0) throw defects[0];
    return answer;
  } finally {
    await server.close();
  }
}

/** @param onDefect Given what is nobody's mistake but ours, and must not be told to the agent. */
function createServer(protocol: Protocol, sender: Sender, onDefect: (defect: unknown) => void): McpServer {
  const { McpServer, ListToolsRequestSchema, CallToolRequestSchema, McpError, ErrorCode, tools, version } = protocol;
  const options = { capabilities: { tools: {} }, instructions: INSTRUCTIONS };
  const mcp = new McpServer({ name: 'trellis-secrets', version }, options);
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toListed) }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool)
      throw new McpError(
        ErrorCode.InvalidParams,
        `Expected one of the tools ${tools.map(({ name }) => name).join(', ')}`,
      );
    try {
      return { content: [{ type: 'text' as const, text: await tool.call(params.arguments ?? {}, sender) }] };
    } catch (error) {
      if (!(error instanceof AppError)) onDefect(error);
      return { content: [{ type: 'text' as const, text: describe(error) }], isError: true };
    }
  });
  return mcp;
}

const toListed = ({ name, description, inputSchema, annotations }: Tool) => ({
  name,
  description,
  inputSchema,
  annotations,
});

/** As the error body has it. */
function describe(error: unknown): string {
  if (!(error instanceof AppError)) return '';
  const { message, code, field } = error;
  return JSON.stringify({ error: message, code, ...(field !== undefined && { field }) });
}
