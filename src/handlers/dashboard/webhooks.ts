import type { WebhooksHandlers } from '../../generated/dashboard/operations.js';

export const webhooksHandlers = (): WebhooksHandlers => ({
  async ensureWebhook() {
    throw new Error('ensureWebhook is not written yet.');
  },
  async deliverGithub() {
    throw new Error('deliverGithub is not written yet.');
  },
  async deliverForgejo() {
    throw new Error('deliverForgejo is not written yet.');
  },
  async deliverGitlab() {
    throw new Error('deliverGitlab is not written yet.');
  },
});
