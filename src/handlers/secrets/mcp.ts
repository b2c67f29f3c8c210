import type { McpHandlers } from '../../generated/secrets/operations.js';

export const mcpHandlers = (): McpHandlers => ({
  async callMcp() {
    throw new Error('callMcp is not written yet.');
  },
});
