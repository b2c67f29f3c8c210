import type {
  BoardHandlers,
  InsightsHandlers,
  ViewsHandlers,
  FeedsHandlers,
  SharingHandlers,
} from '../../generated/dashboard/operations.js';
import { pageHeaders } from '../paging.js';
import type { DashboardServices } from './services.js';

export const boardHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): BoardHandlers => {
  const { boards, refreshes, streams, visits } = dashboard;
  return {
    getDashboard: async ({ caller, query }) => ({ status: 200, body: await boards.read(caller, query) }),

    refreshDashboard: async ({ caller, query }) => ({ status: 200, body: await refreshes.run(caller, query) }),

    async streamDashboard({ caller, query, headers, signal }) {
      const request = { ...query, lastEventId: headers['last-event-id'], signal };
      return { status: 200, body: await streams.open(caller, request) };
    },

    async streamBoardChanges({ caller, query, headers, signal }) {
      const request = { ...query, lastEventId: headers['last-event-id'], signal };
      return { status: 200, body: await streams.openChanges(caller, request) };
    },

    async saveVisit({ caller, body: { seenAt } }) {
      await visits.save(caller, new Date(seenAt));
      return { status: 204 };
    },
  };
};

export const insightsHandlers = ({
  dashboard: { throughput, reviewInsights },
}: Pick<DashboardServices, 'dashboard'>): InsightsHandlers => ({
  getThroughput: async ({ caller, query }) => ({ status: 200, body: await throughput.read(caller, query) }),

  getReviewInsights: async ({ caller, query }) => ({ status: 200, body: await reviewInsights.read(caller, query) }),

  async listReviewRows({ caller, query }) {
    const { rows, total } = await reviewInsights.list(caller, query);
    const offset = query.offset + rows.length;
    const next = offset < total && rows.length > 0 ? { ...query, offset } : undefined;
    return { status: 200, body: rows, headers: pageHeaders({ total, path: '/api/insights/reviews/rows', next }) };
  },

  async exportReviewRows({ caller, query }) {
    const body = await reviewInsights.exportCsv(caller, query);
    return { status: 200, body, headers: { 'Content-Disposition': 'attachment; filename="reviews.csv"' } };
  },
});

export const viewsHandlers = ({ dashboard: { views } }: Pick<DashboardServices, 'dashboard'>): ViewsHandlers => ({
  listViews: async ({ caller }) => ({ status: 200, body: await views.list(caller) }),

  async saveView({ caller, params: { name }, body: { filter, sort, group } }) {
    return { status: 200, body: await views.save(caller, { name, filter, sort, group }) };
  },

  async deleteView({ caller, params: { name } }) {
    await views.delete(caller, name);
    return { status: 204 };
  },
});

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
