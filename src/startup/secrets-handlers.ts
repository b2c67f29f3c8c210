import { createMcp } from '@trellis/server/mcp/endpoint';
import { toDeniedCall } from '../handlers/secrets/denied-requests.js';
import { secretsHandlers } from '../handlers/secrets/handlers.js';
import { MCP_TOOLS } from '../handlers/secrets/mcp-tools.js';
import { objectsHandlers } from '../handlers/secrets/objects.js';
import type { ServiceContext } from '../project/project.js';

/** Creates the handlers of the secrets service, and the MCP endpoint, whose tools call some of them. */
export function createSecretsHandlers({ table, document, ...services }: ServiceContext): object {
  const { basePath, operations, schemes } = table;
  const handlers = objectsHandlers({ ...services, basePath });
  const mcp = createMcp({
    ...MCP_TOOLS,
    ...{ operations, schemes, handlers, document, version: services.version },
    onRejected: toDeniedCall(services.denials),
  });
  return secretsHandlers({ ...services, basePath, mcp });
}
