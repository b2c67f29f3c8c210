import type { HealthHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';

type Services = Pick<SecretsServices, 'environment' | 'readiness' | 'version'>;

export const healthHandlers = ({ environment, readiness, version }: Services): HealthHandlers => ({
  getHealth: async () => ({
    status: 200,
    body: { status: 'ok', version, ...(environment === undefined ? {} : { environment }) },
  }),

  async getReadiness() {
    const isReady = await readiness.isReady();
    return isReady ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'unavailable' } };
  },
});
