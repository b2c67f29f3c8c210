import type { VersionsHandlers } from '../../generated/secrets/operations.js';

export const versionsHandlers = (): VersionsHandlers => ({
  async listObjectVersions() {
    throw new Error('listObjectVersions is not written yet.');
  },
  async getObjectVersion() {
    throw new Error('getObjectVersion is not written yet.');
  },
  async restoreObjectVersion() {
    throw new Error('restoreObjectVersion is not written yet.');
  },
});
