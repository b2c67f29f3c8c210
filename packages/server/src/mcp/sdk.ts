/** The parts of the SDK that the endpoint uses. The build puts their code here, so that production does not install it. */
export { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
export {
  CallToolRequestSchema,
  ErrorCode,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
  McpError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
