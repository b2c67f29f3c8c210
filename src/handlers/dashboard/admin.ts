import type { Invitation } from '../../accounts/invitations.js';
import type { AdminHandlers } from '../../generated/dashboard/operations.js';
import type { components } from '../../generated/dashboard/types.js';
import { pageHeaders } from '../paging.js';
import type { DashboardServices } from './services.js';

type Services = Pick<DashboardServices, 'accounts' | 'dashboard'>;

export const adminHandlers = ({ accounts, dashboard }: Services): AdminHandlers => {
  const { users, invitations } = accounts;
  const { requestLog } = dashboard;
  return {
    async listUsers({ caller, query }) {
      const page = await users.list(caller, query);
      const body = page.users.map(({ username, displayName, isAdmin, createdAt }) => {
        return { username, displayName, isAdmin, createdAt: createdAt.toISOString() };
      });
      const next = page.next === undefined ? undefined : { limit: query.limit, cursor: page.next };
      return { status: 200, body, headers: pageHeaders({ total: page.total, path: '/api/admin/users', next }) };
    },

    async revokeUser({ caller, address, params }) {
      await users.revoke(caller, params.username, address);
      return { status: 204 };
    },

    async deleteUser({ caller, address, params }) {
      await users.remove(caller, params.username, address);
      return { status: 204 };
    },

    async listInvites({ caller }) {
      return { status: 200, body: (await invitations.list(caller)).map(toInvite) };
    },

    async createInvite({ caller, address, body }) {
      const created = await invitations.create(caller, body, address);
      return { status: 201, body: { ...toInvite(created), token: created.token } };
    },

    async revokeInvite({ caller, address, params }) {
      await invitations.revoke(caller, params.id, address);
      return { status: 204 };
    },

    async listRequests({ caller, query }) {
      const { entries, total } = await requestLog.list(caller, query);
      const offset = query.offset + entries.length;
      const next = offset < total && entries.length > 0 ? { ...query, offset } : undefined;
      return { status: 200, body: entries, headers: pageHeaders({ total, path: '/api/admin/requests', next }) };
    },

    async exportRequests({ caller, query }) {
      const headers = { 'Content-Disposition': 'attachment; filename="requests.csv"' };
      return { status: 200, body: await requestLog.exportCsv(caller, query), headers };
    },
  };
};

function toInvite({ id, username, displayName, expiresAt }: Invitation): components['schemas']['AdminInvite'] {
  return { id, username, displayName, expiresAt: expiresAt.toISOString() };
}
