import type { FeedsHandlers, SharingHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './services.js';

export const sharingHandlers = ({ dashboard: { sharing } }: Pick<DashboardServices, 'dashboard'>): SharingHandlers => ({
  getSharing: async ({ caller }) => ({ status: 200, body: await sharing.list(caller) }),

  async shareBoard({ caller, params }) {
    await sharing.share(caller, params.username);
    return { status: 204 };
  },

  async unshareBoard({ caller, params }) {
    await sharing.unshare(caller, params.username);
    return { status: 204 };
  },
});

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
