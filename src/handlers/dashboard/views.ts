import type { ViewsHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

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
