import type { FeedsHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const feedsHandlers = ({ dashboard: { feeds } }: Pick<DashboardServices, 'dashboard'>): FeedsHandlers => ({
  listFeeds: async ({ caller }) => ({ status: 200, body: await feeds.list(caller) }),

  createFeed: async ({ caller, body }) => ({ status: 201, body: await feeds.create(caller, body) }),

  async deleteFeed({ caller, params: { id } }) {
    await feeds.delete(caller, id);
    return { status: 204 };
  },

  async readAtomFeed({ params: { feedToken } }) {
    return { status: 200, body: Buffer.from(await feeds.readAtom(feedToken)) };
  },

  readBadge: async ({ params: { feedToken } }) => ({ status: 200, body: await feeds.readBadge(feedToken) }),
});
