/** What GitHub's REST API answers to whoever asks without a credential. */
import type { RestIssueNode } from '../rest-issues.js';

export interface PublicRepositoryNode {
  readonly node_id: string;
  readonly full_name: string;
  readonly html_url: string;
  readonly archived: boolean;
  readonly fork: boolean;
  readonly pushed_at: string | null;
  /** Issues and pull requests. */
  readonly open_issues_count: number;
}

/** Issues and pull requests alike; only these have `pull_request`. */
export interface PublicIssueNode extends RestIssueNode {
  readonly pull_request?: object;
}

/** As a search gives them. */
export interface FoundNode extends PublicIssueNode {
  readonly repository_url: string;
}

interface BranchNode {
  readonly ref: string;
  readonly sha: string;
  /** Null when it is gone. */
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
