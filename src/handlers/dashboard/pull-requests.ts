import type { PullRequestsHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const pullRequestsHandlers = ({
  dashboard: { snoozes },
}: Pick<DashboardServices, 'dashboard'>): PullRequestsHandlers => ({
  async mergePullRequest() {
    throw new Error('mergePullRequest is not written yet.');
  },
  async autoMergePullRequest() {
    throw new Error('autoMergePullRequest is not written yet.');
  },
  async cancelAutoMerge() {
    throw new Error('cancelAutoMerge is not written yet.');
  },
  async closePullRequest() {
    throw new Error('closePullRequest is not written yet.');
  },
  async rerunChecks() {
    throw new Error('rerunChecks is not written yet.');
  },
  async updateBranch() {
    throw new Error('updateBranch is not written yet.');
  },
  async requestDependabot() {
    throw new Error('requestDependabot is not written yet.');
  },
  async requestRenovateRebase() {
    throw new Error('requestRenovateRebase is not written yet.');
  },
  async listChecks() {
    throw new Error('listChecks is not written yet.');
  },
  async snoozePullRequest({ caller, body: { until, ...snooze } }) {
    await snoozes.save(caller, { ...snooze, until: until === undefined ? undefined : new Date(until) });
    return { status: 204 };
  },
  async unsnoozePullRequest({ caller, body }) {
    await snoozes.delete(caller, body);
    return { status: 204 };
  },
});
