import type {
  SettingsHandlers,
  WebhooksHandlers,
  NotificationsHandlers,
} from '../../generated/dashboard/operations.js';
import { pageHeaders } from '../paging.js';
import type { DashboardServices } from './services.js';

export const settingsHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): SettingsHandlers => {
  const { settings, credentials, testForgeConnection, preferences } = dashboard;
  return {
    getSettings: async ({ caller }) => ({ status: 200, body: await settings.read(caller) }),

    saveSettings: async ({ caller, body }) => ({ status: 200, body: await settings.save(caller, body) }),

    testForge: async ({ caller, body }) => ({ status: 200, body: await testForgeConnection(caller, body) }),

    listForgeCredentials: async ({ caller }) => ({ status: 200, body: await credentials.list(caller) }),

    createForgeCredential: async ({ caller, body }) => ({ status: 201, body: await credentials.create(caller, body) }),

    async saveForgeCredential({ caller, params: { id }, body }) {
      return { status: 200, body: await credentials.save(caller, id, body) };
    },

    async deleteForgeCredential({ caller, params: { id } }) {
      await credentials.delete(caller, id);
      return { status: 204 };
    },

    async testForgeCredential({ caller, params: { id } }) {
      return { status: 200, body: await credentials.test(caller, id) };
    },

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

export const webhooksHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): WebhooksHandlers => {
  const { deliveries, ensureWebhook, rotateWebhook } = dashboard;
  return {
    async ensureWebhook({ caller, body }) {
      await ensureWebhook(caller, body);
      return { status: 204 };
    },
    rotateWebhook: async ({ caller }) => ({ status: 200, body: await rotateWebhook(caller) }),
    async deliverGithub({ params: { webhookToken: token }, headers, body: read }) {
      await deliveries.receive({ forge: 'github', token, headers, read });
      return { status: 204 };
    },
    async deliverForgejo({ params: { webhookToken: token }, headers, body: read }) {
      await deliveries.receive({ forge: 'forgejo', token, headers, read });
      return { status: 204 };
    },
    async deliverGitlab({ params: { webhookToken: token }, headers, body: read }) {
      await deliveries.receive({ forge: 'gitlab', token, headers, read });
      return { status: 204 };
    },
  };
};

export const notificationsHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): NotificationsHandlers => {
  const { notifications } = dashboard;
  const { channels } = notifications;
  return {
    getNotifications: async ({ caller }) => ({ status: 200, body: await notifications.read(caller) }),

    saveNotifications: async ({ caller, body }) => ({ status: 200, body: await notifications.save(caller, body) }),

    createNotificationChannel: async ({ caller, body }) => ({ status: 201, body: await channels.create(caller, body) }),

    async saveNotificationChannel({ caller, params: { id }, body }) {
      return { status: 200, body: await channels.save(caller, id, body) };
    },

    async deleteNotificationChannel({ caller, params: { id } }) {
      await channels.delete(caller, id);
      return { status: 204 };
    },

    async confirmNotificationChannel({ caller, params: { id }, body }) {
      return { status: 200, body: await channels.confirm(caller, id, body.code) };
    },

    async testNotificationChannel({ caller, params: { id } }) {
      return { status: 200, body: await notifications.test(caller, id) };
    },

    async listNotificationDeliveries({ caller, query }) {
      const { entries, total } = await notifications.listDeliveries(caller, query);
      const offset = query.offset + entries.length;
      const next = offset < total && entries.length > 0 ? { ...query, offset } : undefined;
      return {
        status: 200,
        body: entries,
        headers: pageHeaders({ total, path: '/api/notifications/deliveries', next }),
      };
    },
  };
};
