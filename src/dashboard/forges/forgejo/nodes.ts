/** Responses of Forgejo's and Gitea's REST API. Fields that older servers omit are optional. */
import type { RestIssueNode } from '../rest-issues.js';

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
}

interface UserNode {
  readonly login: string;
}

export interface IssueNode extends RestIssueNode {
  readonly state: 'closed' | 'open';
}

export interface SearchResultNode extends IssueNode {
  readonly repository: { readonly full_name: string } | null;
}

export interface BranchNode {
  readonly ref: string;
  readonly sha: string;
  readonly repo_id: number;
}

export interface PullRequestNode extends IssueNode {
  readonly draft?: boolean;
  readonly mergeable: boolean;
  readonly merged: boolean;
  readonly merge_base: string;
  readonly base: BranchNode;
  readonly head: BranchNode;
  readonly changed_files?: number | null;
  readonly requested_reviewers?: readonly UserNode[] | null;
  readonly requested_reviewers_teams?: readonly object[] | null;
}

export interface ReviewNode {
  readonly user: UserNode | null;
  readonly state: string;
  readonly official: boolean;
  readonly dismissed: boolean;
  readonly stale: boolean;
}

export interface StatusNode {
  readonly context: string;
  readonly status: string;
  readonly target_url: string;
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
