import type { PullRequest } from '../model.js';

export type Bot = 'dependabot' | 'renovate';

/**
 * Finds the dependency bot behind a login, with or without the suffix `[bot]`.
 *
 * @param renovateAuthors Further accounts that run Renovate, from the user's settings.
 */
export function findBot(author: string, renovateAuthors: readonly string[]): Bot | undefined {
  const login = author.toLowerCase();
  const name = login.replace(/\[bot\]$/, '');
  if (name === 'dependabot' || name === 'renovate') return name;
  return renovateAuthors.some((listed) => listed.toLowerCase() === login) ? 'renovate' : undefined;
}

/** Returns the kind of a pull request. A release label takes precedence over the author. */
export function toPullRequestKind({ labels }: Pick<PullRequest, 'labels'>, bot: Bot | undefined): PullRequest['kind'] {
  if (labels.some(({ name }) => name.startsWith('autorelease:'))) return 'release';
  return bot === undefined ? 'regular' : 'dependency';
}

/** Reports whether an issue is Renovate's permanent list of updates, which is never closed. */
export function isHousekeeping(issue: { readonly title: string }, bot: Bot | undefined): boolean {
  return bot === 'renovate' && issue.title.trim().toLowerCase() === 'dependency dashboard';
}
