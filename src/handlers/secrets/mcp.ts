import type { McpHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { SecretsServices } from './handlers.js';

export const mcpHandlers = ({ mcp }: Pick<SecretsServices, 'mcp'>): McpHandlers => ({
  async callMcp({ body, headers, caller, requestId, address, signal }) {
    const answer = await mcp.answer(body, { headers, caller, requestId, address, signal });
    return answer === undefined
      ? { status: 202 }
      : { status: 200, body: answer as components['schemas']['JsonRpcMessage'] };
  },
});
