/** Responses of GitHub's REST API to requests without a credential. */
import type { RestIssueNode } from '../rest-issues.js';

export interface PublicRepositoryNode {
  readonly node_id: string;
  readonly full_name: string;
  readonly html_url: string;
  readonly archived: boolean;
  readonly fork: boolean;
  readonly pushed_at: string | null;
  /** Counts issues and pull requests. */
  readonly open_issues_count: number;
}

/** An issue or pull request. Only pull requests have `pull_request`. */
export interface PublicIssueNode extends RestIssueNode {
  readonly pull_request?: object;
}

/** An issue or pull request in a search result. */
export interface SearchResultNode extends PublicIssueNode {
  readonly repository_url: string;
}

interface BranchNode {
  readonly ref: string;
  readonly sha: string;
  /** Null for a deleted repository. */
  readonly repo: { readonly full_name: string } | null;
}

export interface PublicPullRequestNode extends RestIssueNode {
  readonly draft?: boolean;
  readonly head: BranchNode;
  readonly base: BranchNode;
  readonly requested_reviewers: readonly { readonly login: string }[] | null;
  readonly auto_merge: object | null;
}

export interface PublicCheckRunNode {
  readonly name: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly html_url: string | null;
  readonly details_url: string | null;
}
