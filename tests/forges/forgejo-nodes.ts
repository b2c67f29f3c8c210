import type { ForgejoIssue, ForgejoPullRequest, ForgejoRepository } from './forgejo-state.js';

const userOf = (login: string | null) => (login === null ? null : { id: 1, login });

export function toRepositoryNode(repository: ForgejoRepository, origin: string) {
  const { id, fullName, archived, fork, mirror, admin, push, updatedAt, merge, squash, rebase } = repository;
  const flags = { archived, fork, mirror };
  const allowed = {
    allow_merge_commits: merge,
    allow_squash_merge: squash,
    allow_rebase: rebase,
    allow_rebase_explicit: repository.rebaseMerge,
    allow_fast_forward_only_merge: repository.fastForward,
  };
  const permissions = { admin, push, pull: true };
  const url = `${origin}/${fullName}`;
  return { id, full_name: fullName, html_url: url, ...flags, ...allowed, permissions, updated_at: updatedAt };
}

export function toIssueNode(issue: ForgejoIssue, repository: ForgejoRepository, origin: string) {
  return {
    ...toCommonNode(issue, repository, origin),
    repository: { id: repository.id, full_name: repository.fullName },
    pull_request: 'headSha' in issue ? { merged: false } : null,
  };
}

/** Returns the id of a label of the repository, or else of its organization. */
const idOfLabel = (name: string, { labels, organizationLabels }: ForgejoRepository) =>
  [...labels, ...organizationLabels].find((one) => one.name === name)?.id ?? 1_000;

/** Returns the members that issues and pull requests share. */
function toCommonNode(issue: ForgejoIssue, repository: ForgejoRepository, origin: string) {
  const { number, title, author, labels, createdAt, updatedAt, state } = issue;
  const kind = 'headSha' in issue ? 'pulls' : 'issues';
  return {
    number,
    title,
    html_url: `${origin}/${repository.fullName}/${kind}/${number}`,
    user: userOf(author),
    labels: labels.map((label) => ({ id: idOfLabel(label.name, repository), ...label })),
    created_at: createdAt,
    updated_at: updatedAt,
    state,
  };
}

export function toPullRequestNode(one: ForgejoPullRequest, repository: ForgejoRepository, origin: string) {
  const { draft, mergeable, merged, mergeBase, baseRef, baseSha, headRef, headSha, fromFork } = one;
  return {
    ...toCommonNode(one, repository, origin),
    draft,
    mergeable,
    merged,
    merged_at: one.mergedAt,
    closed_at: one.closedAt,
    merge_base: mergeBase,
    base: { ref: baseRef, sha: baseSha, repo_id: repository.id, repo: toRepositoryNode(repository, origin) },
    head: { ref: headRef, sha: headSha, repo_id: fromFork ? -1 : repository.id },
    changed_files: one.changedFiles,
    additions: one.additions,
    deletions: one.deletions,
    assignees: one.assignees.map(userOf),
    requested_reviewers: one.requested.map(userOf),
    requested_reviewers_teams: one.teams.map((name) => ({ name })),
  };
}

export function toReviewNodes({ reviews }: ForgejoPullRequest) {
  return reviews.map(({ login, state, official = true, dismissed = false, submittedAt, comments = [] }, index) => ({
    id: index + 1,
    submitted_at: submittedAt,
    comments_count: comments.length,
    user: userOf(login),
    state,
    official,
    dismissed,
    stale: false,
  }));
}
