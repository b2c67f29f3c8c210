import type { SettingsHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const settingsHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): SettingsHandlers => {
  const { settings, testForgeConnection, preferences } = dashboard;
  return {
    getSettings: async ({ caller }) => ({ status: 200, body: await settings.read(caller) }),

    saveSettings: async ({ caller, body }) => ({ status: 200, body: await settings.save(caller, body) }),

    testForge: async ({ caller, body }) => ({ status: 200, body: await testForgeConnection(caller, body) }),

    getTheme: async ({ caller }) => ({ status: 200, body: { theme: await preferences.readTheme(caller) } }),

    async saveTheme({ caller, body }) {
      await preferences.saveTheme(caller, body.theme);
      return { status: 200, body };
    },

    getTimezone: async ({ caller }) => ({ status: 200, body: { timezone: await preferences.readTimezone(caller) } }),

    async saveTimezone({ caller, body }) {
      await preferences.saveTimezone(caller, body.timezone);
      return { status: 200, body };
    },

    getFilterState: async ({ caller }) => ({ status: 200, body: await preferences.readFilterState(caller) }),

    async saveFilterState({ caller, body }) {
      await preferences.saveFilterState(caller, body);
      return { status: 204 };
    },
  };
};
