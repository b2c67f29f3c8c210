import type { HealthHandlers, McpHandlers, SecretsHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import { auditHandlers } from './audit.js';
import { authHandlers, credentialsHandlers, deviceLoginHandlers } from './auth.js';
import { consumersHandlers, consumerTokensHandlers, tokensHandlers, workloadIdentityHandlers } from './consumers.js';
import { objectsHandlers, versionsHandlers } from './objects.js';
import type { SecretsServices } from './services.js';

export const secretsHandlers = (services: SecretsServices): SecretsHandlers => ({
  ...healthHandlers(services),
  ...authHandlers(services),
  ...credentialsHandlers(services),
  ...tokensHandlers(services),
  ...consumerTokensHandlers(services),
  ...workloadIdentityHandlers(services),
  ...deviceLoginHandlers(services),
  ...objectsHandlers(services),
  ...versionsHandlers(services),
  ...consumersHandlers(services),
  ...auditHandlers(services),
  ...mcpHandlers(services),
});

type HealthServices = Pick<SecretsServices, 'environment' | 'readiness' | 'version'>;

const healthHandlers = ({ environment, readiness, version }: HealthServices): HealthHandlers => ({
  getHealth: async () => ({
    status: 200,
    body: { status: 'ok', version, ...(environment === undefined ? {} : { environment }) },
  }),

  async getReadiness() {
    const isReady = await readiness.isReady();
    return isReady ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'unavailable' } };
  },
});

const mcpHandlers = ({ mcp }: Pick<SecretsServices, 'mcp'>): McpHandlers => ({
  async callMcp({ body, headers, caller, requestId, address, signal }) {
    const response = await mcp.handle(body, { headers, caller, requestId, address, signal });
    return response === undefined
      ? { status: 202 }
      : { status: 200, body: response as components['schemas']['JsonRpcMessage'] };
  },
});
