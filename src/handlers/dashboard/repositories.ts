import type { RepositoriesHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const repositoriesHandlers = ({
  dashboard: { repositories },
}: Pick<DashboardServices, 'dashboard'>): RepositoriesHandlers => ({
  async ignoreRepository({ caller, body }) {
    await repositories.ignore(caller, body);
    return { status: 204 };
  },
  async unignoreRepository({ caller, body }) {
    await repositories.unignore(caller, body);
    return { status: 204 };
  },
  async enableAutoUpdateBranch({ caller, body }) {
    await repositories.enableAutoUpdate(caller, body);
    return { status: 204 };
  },
  async disableAutoUpdateBranch({ caller, body }) {
    await repositories.disableAutoUpdate(caller, body);
    return { status: 204 };
  },
});
