import type { PullRequestsHandlers, RepositoriesHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './services.js';

export const pullRequestsHandlers = ({
  dashboard: { actions, snoozes },
}: Pick<DashboardServices, 'dashboard'>): PullRequestsHandlers => ({
  async mergePullRequest({ caller, body }) {
    const { method, ...target } = body;
    await actions.perform(caller, target, 'merge', { method });
    return { status: 204 };
  },
  async autoMergePullRequest({ caller, body }) {
    await actions.perform(caller, body, 'auto_merge');
    return { status: 204 };
  },
  async cancelAutoMerge({ caller, body }) {
    await actions.perform(caller, body, 'cancel_auto_merge');
    return { status: 204 };
  },
  async enqueuePullRequest({ caller, body }) {
    await actions.perform(caller, body, 'enqueue');
    return { status: 204 };
  },
  async dequeuePullRequest({ caller, body }) {
    await actions.perform(caller, body, 'dequeue');
    return { status: 204 };
  },
  async closePullRequest({ caller, body }) {
    await actions.perform(caller, body, 'close');
    return { status: 204 };
  },
  async reviewPullRequest({ caller, body: { verdict, text, ...target } }) {
    await actions.perform(caller, target, 'review', { review: { verdict, text } });
    return { status: 204 };
  },
  async editPullRequest({ caller, body: { reviewers, assignees, labels, ...target } }) {
    await actions.perform(caller, target, 'edit', { edit: { reviewers, assignees, labels } });
    return { status: 204 };
  },
  async rerunChecks({ caller, body }) {
    await actions.perform(caller, body, 'rerun_checks');
    return { status: 204 };
  },
  async updateBranch({ caller, body }) {
    const outcome = await actions.perform(caller, body, 'update_branch');
    return { status: outcome === 'queued' ? 202 : 204 };
  },
  async requestDependabot({ caller, body }) {
    await actions.perform(caller, body, `dependabot_${body.action}`);
    return { status: 204 };
  },
  async requestRenovateRebase({ caller, body }) {
    await actions.perform(caller, body, 'renovate_rebase');
    return { status: 204 };
  },
  listChecks: async ({ caller, query }) => ({ status: 200, body: { checks: await actions.listChecks(caller, query) } }),
  readPullRequestDetails: async ({ caller, query }) => ({
    status: 200,
    body: await actions.readDetails(caller, query),
  }),
  async snoozePullRequest({ caller, body: { until, ...snooze } }) {
    await snoozes.save(caller, { ...snooze, until: until === undefined ? undefined : new Date(until) });
    return { status: 204 };
  },
  async unsnoozePullRequest({ caller, body }) {
    await snoozes.delete(caller, body);
    return { status: 204 };
  },
});

export const repositoriesHandlers = ({
  dashboard: { repositories },
}: Pick<DashboardServices, 'dashboard'>): RepositoriesHandlers => ({
  async ignoreRepository({ caller, body }) {
    await repositories.ignore(caller, body);
    return { status: 204 };
  },
  async unignoreRepository({ caller, body }) {
    await repositories.unignore(caller, body);
    return { status: 204 };
  },
  async enableAutoUpdateBranch({ caller, body }) {
    await repositories.enableAutoUpdate(caller, body);
    return { status: 204 };
  },
  async disableAutoUpdateBranch({ caller, body }) {
    await repositories.disableAutoUpdate(caller, body);
    return { status: 204 };
  },
});
