import { ForgeError } from '../forge-error.js';
import { type CiStatus, type ForgePullRequest, type ForgeRepository, toCiFields } from '../forge.js';
import { type RestIssueNode, toForgeIssue, toRevision } from '../read-repositories.js';

/** Reports whether a repository belongs on a board: the user can push to it; it is not a fork, mirror or archived. */
export function belongsOnBoard({ archived, fork, mirror, permissions, full_name: name }: RepositoryNode): boolean {
  // Otherwise an invalid repository would count as one that the user can't push to.
  if (typeof (name as unknown) !== 'string')
    throw new ForgeError('unknown', { cause: new Error('A repository has no name.') });
  return !archived && !fork && !mirror && permissions?.push === true;
}

/** Converts a repository. @param open Its open issues and pull requests; any change to them changes the revision. */
export function toRepository(node: RepositoryNode, open: readonly IssueNode[]): ForgeRepository {
  const { id, full_name: fullName, html_url: url, updated_at, permissions } = node;
  const revision = toRevision([fullName, updated_at], open);
  return { id: String(id), fullName, url, canManageWebhooks: permissions?.admin === true, revision };
}

interface PullRequestContext {
  readonly repo: string;
  /** `undefined` when the forge did not return it. */
  readonly ci: CiStatus | undefined;
  readonly review: ForgePullRequest['review'];
}

export function toForgePullRequest(node: PullRequestNode, { repo, ci, review }: PullRequestContext): ForgePullRequest {
  const { base, head, mergeable, merge_base, additions, deletions, changed_files, requested_reviewers } = node;
  return {
    ...toForgeIssue(node, repo),
    draft: isDraft(node),
    ...toCiFields(ci),
    // The API does not distinguish branch protection, conflicts and missing checks.
    mergeStatus: mergeable ? 'mergeable' : 'blocked',
    behind: base.sha !== merge_base,
    headSha: head.sha,
    baseBranch: base.ref,
    headBranch: head.ref,
    crossRepository: head.repo_id !== base.repo_id,
    requestedReviewerLogins: (requested_reviewers ?? []).map(({ login }) => login),
    empty: changed_files === 0 && mergeable,
    ...(typeof additions === 'number' && { additions }),
    ...(typeof deletions === 'number' && { deletions }),
    ...(review && { review }),
  };
}

/** Reports whether a pull request is a draft. Older servers mark drafts only in the title. */
export function isDraft({ draft, title }: Pick<PullRequestNode, 'draft' | 'title'>): boolean {
  return draft ?? isDraftTitle(title);
}

/** Reports whether a title marks a draft, with the default prefixes of a server. */
export const isDraftTitle = (title: string): boolean => /^(\[WIP\]|WIP:)/i.test(title);

/**
 * Summarizes the reviews. The last approval or request for changes of each reviewer counts, unless it was dismissed.
 */
export function summarizeReviews(reviews: readonly ReviewNode[], node: PullRequestNode): ForgePullRequest['review'] {
  const last = new Map<string, string>();
  for (const { user, state, dismissed, official } of reviews) {
    if (user === null || dismissed || !official) continue;
    if (state === 'APPROVED' || state === 'REQUEST_CHANGES') last.set(user.login, state);
  }
  const states = [...last.values()];
  const approvals = states.filter((state) => state === 'APPROVED').length;
  const approved = approvals > 0 ? 'approved' : 'none';
  return {
    decision: states.includes('REQUEST_CHANGES') ? 'changes_requested' : approved,
    approvals,
    requestedReviewers: (node.requested_reviewers ?? []).length + (node.requested_reviewers_teams ?? []).length,
  };
}

// The responses of Forgejo's and Gitea's REST API. Fields that older servers omit are optional.

export interface RepositoryNode {
  readonly id: number;
  readonly full_name: string;
  readonly html_url: string;
  readonly archived: boolean;
  readonly fork: boolean;
  readonly mirror: boolean;
  readonly updated_at: string;
  readonly permissions?: { readonly admin: boolean; readonly push: boolean; readonly pull: boolean };
  readonly allow_merge_commits?: boolean;
  readonly allow_squash_merge?: boolean;
  readonly allow_rebase?: boolean;
  readonly allow_rebase_explicit?: boolean;
  readonly allow_fast_forward_only_merge?: boolean;
}

interface UserNode {
  readonly login: string;
}

export interface IssueNode extends RestIssueNode {
  readonly state: 'closed' | 'open';
}

export interface SearchResultNode extends IssueNode {
  readonly repository: { readonly full_name: string; readonly id: number } | null;
}

interface BranchNode {
  readonly ref: string;
  readonly sha: string;
  readonly repo_id: number;
  readonly repo?: Pick<RepositoryNode, 'archived' | 'permissions'> | null;
}

export interface PullRequestNode extends IssueNode {
  /** The labels of the repository and of its organization. */
  readonly labels: readonly { readonly id: number; readonly name: string; readonly color: string }[] | null;
  readonly draft?: boolean;
  readonly mergeable: boolean;
  readonly merged: boolean;
  readonly merge_base: string;
  readonly base: BranchNode;
  readonly head: BranchNode;
  readonly merged_at?: string | null;
  readonly closed_at?: string | null;
  readonly changed_files?: number | null;
  readonly additions?: number | null;
  readonly deletions?: number | null;
  readonly milestone?: { readonly title: string } | null;
  readonly assignees?: readonly { readonly login: string }[] | null;
  readonly requested_reviewers?: readonly UserNode[] | null;
  readonly requested_reviewers_teams?: readonly object[] | null;
}

export interface ForgejoCommentNode {
  readonly user: UserNode | null;
  readonly body: string;
  readonly html_url: string;
  readonly created_at: string;
}

/** A comment on a line of the diff. */
export interface ReviewCommentNode extends ForgejoCommentNode {
  readonly path: string;
  readonly position?: number | null;
  /** The user who resolved the thread. */
  readonly resolver?: UserNode | null;
}

export interface ReviewNode {
  readonly id: number;
  readonly submitted_at?: string;
  readonly comments_count?: number;
  readonly user: UserNode | null;
  readonly state: string;
  readonly official: boolean;
  readonly dismissed: boolean;
  readonly stale: boolean;
}

/** An entry of a timeline, of which a client reads changes of the title and requests for reviews. */
export interface TimelineNode {
  readonly type: string;
  readonly created_at: string;
  readonly old_title?: string | null;
  readonly new_title?: string | null;
  /** The reviewer; null for a team. */
  readonly assignee?: UserNode | null;
  readonly removed_assignee?: boolean;
}

export interface StatusNode {
  readonly context: string;
  readonly status: string;
  readonly target_url: string | null;
}

export interface CombinedStatusNode {
  readonly state: string;
  readonly statuses: readonly StatusNode[] | null;
}

/** A workflow run. Gitea reports the result in `conclusion`, Forgejo in `status`. */
export interface RunNode {
  readonly id: number;
  readonly status: string;
  readonly conclusion?: string | null;
}

export interface JobNode {
  readonly name: string;
  readonly html_url?: string;
  readonly status: string;
  readonly conclusion?: string | null;
  readonly started_at?: string | null;
  readonly completed_at?: string | null;
}
