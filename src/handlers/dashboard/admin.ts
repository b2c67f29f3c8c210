import type { Invitation } from '../../accounts/invitations.js';
import type { AdminHandlers } from '../../generated/dashboard/operations.js';
import type { components } from '../../generated/dashboard/types.js';
import type { SiteWork } from '../../site-data/service.js';
import type { CleanupStatus } from '../../storage/cleanup-job.js';
import { pageHeaders } from '../paging.js';
import type { DashboardServices } from './services.js';

type Services = Pick<DashboardServices, 'accounts' | 'cleanup' | 'dashboard' | 'siteWork'>;

export const adminHandlers = ({ accounts, dashboard, cleanup, siteWork }: Services): AdminHandlers => {
  const { users, invitations } = accounts;
  const { requestLog, jobs } = dashboard;
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

    async listJobs({ caller }) {
      const boardJobs = await jobs.list(caller);
      const site = siteWork && toSiteJobs(siteWork());
      return { status: 200, body: { ...boardJobs, cleanup: toCleanup(cleanup.status), ...(site && { site }) } };
    },

    async refreshUserBoard({ caller, params }) {
      await jobs.refresh(caller, params.username);
      return { status: 204 };
    },

    async cancelUserBoard({ caller, params }) {
      await jobs.cancel(caller, params.username);
      return { status: 204 };
    },

    async runCleanup({ caller }) {
      jobs.cleanUp(caller, cleanup);
      return { status: 204 };
    },

    async exportRequests({ caller, query }) {
      const headers = { 'Content-Disposition': 'attachment; filename="requests.csv"' };
      return { status: 200, body: await requestLog.exportCsv(caller, query), headers };
    },
  };
};

const toCleanup = ({ isRunning, endedAt, failures }: CleanupStatus): components['schemas']['CleanupJob'] => ({
  ...{ isRunning, failures },
  ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
});

const toSiteJobs = ({ changedAt, ...work }: SiteWork): components['schemas']['SiteJobs'] => ({
  ...work,
  ...(changedAt !== undefined && { changedAt: new Date(changedAt).toISOString() }),
});

function toInvite({ id, username, displayName, expiresAt }: Invitation): components['schemas']['AdminInvite'] {
  return { id, username, displayName, expiresAt: expiresAt.toISOString() };
}
