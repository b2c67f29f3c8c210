import type { ViewsHandlers } from '../../generated/dashboard/operations.js';

export const viewsHandlers = (): ViewsHandlers => ({
  async listViews() {
    throw new Error('listViews is not written yet.');
  },
  async deleteView() {
    throw new Error('deleteView is not written yet.');
  },
  async saveView() {
    throw new Error('saveView is not written yet.');
  },
});
