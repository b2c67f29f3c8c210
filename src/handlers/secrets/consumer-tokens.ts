import type { ConsumerTokensHandlers } from '../../generated/secrets/operations.js';

export const consumerTokensHandlers = (): ConsumerTokensHandlers => ({
  async listConsumerTokens() {
    throw new Error('listConsumerTokens is not written yet.');
  },
  async createConsumerToken() {
    throw new Error('createConsumerToken is not written yet.');
  },
  async revokeConsumerToken() {
    throw new Error('revokeConsumerToken is not written yet.');
  },
  async rotateConsumerToken() {
    throw new Error('rotateConsumerToken is not written yet.');
  },
  async purgeConsumerToken() {
    throw new Error('purgeConsumerToken is not written yet.');
  },
});
