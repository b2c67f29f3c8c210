import type { NotificationsHandlers } from '../../generated/dashboard/operations.js';
import { pageHeaders } from '../paging.js';
import type { DashboardServices } from './services.js';

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
