import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type * as Sdk from './sdk.js';

/** A JSON Schema of an object. */
interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

/** A tool of a local server. */
export interface LocalTool {
  readonly name: string;
  readonly title: string;
  /** The description for agents. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
  /**
   * Handles a call with valid input.
   *
   * @param signal Aborts when the client cancels the call or the server stops.
   * @throws Error with a message for the agent; other errors must be converted.
   */
  call(input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<LocalToolResult>;
}

interface LocalToolResult {
  /** The result by `outputSchema`. */
  readonly content: Record<string, unknown>;
  /** Whether agents should treat the result as a failure. */
  readonly isError?: boolean;
}

export interface StdioMcpOptions {
  readonly name: string;
  readonly version: string;
  /** Instructions for agents. */
  readonly instructions: string;
  readonly tools: readonly LocalTool[];
  readonly input: Readable;
  readonly output: Writable;
  /** Receives errors of the protocol, such as lines that are not JSON. */
  readonly onError: (error: Error) => void;
}

/** Well above the size of any call. */
const MAX_MESSAGE_BYTES = 2 ** 20;

/** Serves tools to the one client at the other end of two streams, until the client closes its stream. */
export async function serveStdioMcp(options: StdioMcpOptions): Promise<void> {
  const sdk = await import('./sdk.js');
  const { input, output, onError } = options;
  const stop = new AbortController();
  const mcp = createServer(sdk, options, stop.signal);
  const transport = new sdk.StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  mcp.server.onerror = onError;
  // The transport of the SDK does not notice the end of its input, and closes itself after a message that is too long.
  const closed = new Promise<void>((resolve) => {
    mcp.server.onclose = resolve;
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
    output.once('error', () => resolve());
  });
  await mcp.connect(transport);
  await closed;
  stop.abort();
  await mcp.close();
}

function createServer(sdk: typeof Sdk, options: StdioMcpOptions, stopped: AbortSignal): McpServer {
  const { McpServer, ListToolsRequestSchema, CallToolRequestSchema, McpError, ErrorCode } = sdk;
  const { name, version, instructions } = options;
  const validators = new sdk.AjvJsonSchemaValidator();
  const tools = options.tools.map((tool) => ({ ...tool, validate: validators.getValidator(tool.inputSchema) }));
  const mcp = new McpServer({ name, version }, { capabilities: { tools: {} }, instructions });
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: options.tools.map(toListed) }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = tools.map(({ name }) => name).join(', ');
      throw new McpError(ErrorCode.InvalidParams, `Expected the tool to be one of ${names}`);
    }
    const input = params.arguments ?? {};
    const { valid, errorMessage = '' } = tool.validate(input);
    if (!valid) return toFailure(`Invalid arguments: ${errorMessage}`);
    try {
      const { content, isError } = await tool.call(input, AbortSignal.any([signal, stopped]));
      return { content: [toText(JSON.stringify(content))], structuredContent: content, ...(isError && { isError }) };
    } catch (error) {
      return toFailure((error as Error).message);
    }
  });
  return mcp;
}

const toText = (text: string) => ({ type: 'text' as const, text });

const toFailure = (message: string) => ({ content: [toText(message)], isError: true });

const toListed = ({ name, title, description, inputSchema, outputSchema, annotations }: LocalTool) => ({
  ...{ name, title, description, annotations },
  inputSchema: toMutable(inputSchema),
  outputSchema: toMutable(outputSchema),
});

/** The types of the SDK have no readonly lists. */
const toMutable = ({ required = [], properties, ...schema }: ObjectSchema) => ({
  ...schema,
  properties: { ...properties },
  required: [...required],
});
