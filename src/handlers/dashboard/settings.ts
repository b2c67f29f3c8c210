import type { SettingsHandlers } from '../../generated/dashboard/operations.js';

export const settingsHandlers = (): SettingsHandlers => ({
  async getSettings() {
    throw new Error('getSettings is not written yet.');
  },
  async saveSettings() {
    throw new Error('saveSettings is not written yet.');
  },
  async getTheme() {
    throw new Error('getTheme is not written yet.');
  },
  async saveTheme() {
    throw new Error('saveTheme is not written yet.');
  },
  async getTimezone() {
    throw new Error('getTimezone is not written yet.');
  },
  async saveTimezone() {
    throw new Error('saveTimezone is not written yet.');
  },
  async getFilterState() {
    throw new Error('getFilterState is not written yet.');
  },
  async saveFilterState() {
    throw new Error('saveFilterState is not written yet.');
  },
});
