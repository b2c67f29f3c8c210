import type { WebhooksHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const webhooksHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): WebhooksHandlers => {
  const { deliveries, ensureWebhook, rotateWebhook } = dashboard;
  return {
    async ensureWebhook({ caller, body }) {
      await ensureWebhook(caller, body);
      return { status: 204 };
    },
    rotateWebhook: async ({ caller }) => ({ status: 200, body: await rotateWebhook(caller) }),
    async deliverGithub({ params: { webhookToken: token }, headers, body: read }) {
      await deliveries.receive({ forge: 'github', token, headers, read });
      return { status: 204 };
    },
    async deliverForgejo({ params: { webhookToken: token }, headers, body: read }) {
      await deliveries.receive({ forge: 'forgejo', token, headers, read });
      return { status: 204 };
    },
    async deliverGitlab({ params: { webhookToken: token }, headers, body: read }) {
      await deliveries.receive({ forge: 'gitlab', token, headers, read });
      return { status: 204 };
    },
  };
};
