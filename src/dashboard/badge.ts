import type { components } from '../generated/dashboard/types.js';

export type Badge = components['schemas']['Badge'];
type PullRequest = Pick<components['schemas']['PullRequest'], 'ci'>;

/**
 * Counts pull requests in the format of a shields.io endpoint badge: red if checks fail, yellow while checks are
 * running.
 */
export function toBadge(label: string, pullRequests: readonly PullRequest[]): Badge {
  const count = (ci: PullRequest['ci']): number => pullRequests.filter((one) => one.ci === ci).length;
  const [all, failing] = [pullRequests.length, count('failure')];
  const color = failing > 0 ? 'red' : count('pending') > 0 ? 'yellow' : 'brightgreen';
  return { schemaVersion: 1, label, message: failing > 0 ? `${failing} failing of ${all}` : String(all), color };
}
