import type { FeedsHandlers } from '../../generated/dashboard/operations.js';

export const feedsHandlers = (): FeedsHandlers => ({
  async listFeeds() {
    throw new Error('listFeeds is not written yet.');
  },
  async createFeed() {
    throw new Error('createFeed is not written yet.');
  },
  async deleteFeed() {
    throw new Error('deleteFeed is not written yet.');
  },
  async readAtomFeed() {
    throw new Error('readAtomFeed is not written yet.');
  },
  async readBadge() {
    throw new Error('readBadge is not written yet.');
  },
});
