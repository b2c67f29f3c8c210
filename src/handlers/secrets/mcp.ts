import type { McpHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { SecretsServices } from './handlers.js';

export const mcpHandlers = ({ mcp }: Pick<SecretsServices, 'mcp'>): McpHandlers => ({
  async callMcp({ body, headers, caller, requestId, address, signal }) {
    const response = await mcp.handle(body, { headers, caller, requestId, address, signal });
    return response === undefined
      ? { status: 202 }
      : { status: 200, body: response as components['schemas']['JsonRpcMessage'] };
  },
});
