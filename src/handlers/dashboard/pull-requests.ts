import type { PullRequestsHandlers } from '../../generated/dashboard/operations.js';

export const pullRequestsHandlers = (): PullRequestsHandlers => ({
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
  async snoozePullRequest() {
    throw new Error('snoozePullRequest is not written yet.');
  },
  async unsnoozePullRequest() {
    throw new Error('unsnoozePullRequest is not written yet.');
  },
});
