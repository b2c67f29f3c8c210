import type { RepositoriesHandlers } from '../../generated/dashboard/operations.js';

export const repositoriesHandlers = (): RepositoriesHandlers => ({
  async ignoreRepository() {
    throw new Error('ignoreRepository is not written yet.');
  },
  async unignoreRepository() {
    throw new Error('unignoreRepository is not written yet.');
  },
  async enableAutoUpdateBranch() {
    throw new Error('enableAutoUpdateBranch is not written yet.');
  },
  async disableAutoUpdateBranch() {
    throw new Error('disableAutoUpdateBranch is not written yet.');
  },
});
