import type { PullRequest } from '../facts.js';

export type Bot = 'dependabot' | 'renovate';

/** Tells which dependency bot a login is, with or without its `[bot]`; accounts that run Renovate are listed by people. */
export function findBot(author: string, renovateAuthors: readonly string[]): Bot | undefined {
  const login = author.toLowerCase();
  const name = login.replace(/\[bot\]$/, '');
  if (name === 'dependabot' || name === 'renovate') return name;
  return renovateAuthors.some((listed) => listed.toLowerCase() === login) ? 'renovate' : undefined;
}

/** A release's label counts more than its author. */
export function kindOf({ labels }: Pick<PullRequest, 'labels'>, bot: Bot | undefined): PullRequest['kind'] {
  if (labels.some(({ name }) => name.startsWith('autorelease:'))) return 'release';
  return bot === undefined ? 'regular' : 'dependency';
}

/** Renovate's standing list of updates, which is never done. */
export function isHousekeeping(issue: { readonly title: string }, bot: Bot | undefined): boolean {
  return bot === 'renovate' && issue.title.trim().toLowerCase() === 'dependency dashboard';
}
