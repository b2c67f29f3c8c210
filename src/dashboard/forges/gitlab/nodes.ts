/** The results of the GraphQL queries in `queries.ts`, and responses of GitLab's REST API. */
import type { ConnectionPage } from '../http/connections.js';

interface Latest {
  readonly count: number;
  readonly nodes: readonly ({ readonly updatedAt: string } | null)[];
}

export interface ProjectNode {
  readonly id: string;
  readonly fullPath: string;
  readonly webUrl: string;
  readonly archived: boolean;
  /** Missing on older servers. */
  readonly isForked?: boolean | null;
  readonly lastActivityAt: string | null;
  readonly userPermissions: { readonly pushCode: boolean; readonly adminProject: boolean };
  /** Null in projects with merge requests disabled. */
  readonly latestMergeRequests: Latest | null;
  readonly latestIssues: Latest | null;
}

interface User {
  readonly username: string;
}

export interface IssueNode {
  readonly iid: string;
  readonly title: string;
  readonly webUrl: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly author: User | null;
  readonly labels: { readonly nodes: readonly ({ readonly title: string; readonly color: string } | null)[] } | null;
}

interface Users {
  readonly nodes: readonly (User | null)[];
}

export interface Reviewer extends User {
  /** Missing on older servers. */
  readonly mergeRequestInteraction?: { readonly reviewState: string | null } | null;
}

export interface MergeRequestNode extends IssueNode {
  readonly draft: boolean;
  readonly state: 'closed' | 'locked' | 'merged' | 'opened';
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly sourceProjectId: number | null;
  readonly targetProjectId: number;
  readonly diffHeadSha: string | null;
  /** Missing on older servers. */
  readonly detailedMergeStatus?: string | null;
  readonly conflicts: boolean;
  readonly divergedFromTargetBranch: boolean;
  readonly autoMergeEnabled: boolean;
  readonly diffStatsSummary: { readonly fileCount: number } | null;
  /** Whether the merge request has the required approvals. Missing on servers without approval rules. */
  readonly approved?: boolean;
  readonly approvedBy: Users | null;
  readonly reviewers: { readonly nodes: readonly (Reviewer | null)[] } | null;
  readonly headPipeline: { readonly id: string; readonly status: string } | null;
}

export interface TargetMergeRequestNode extends MergeRequestNode {
  /** Runs in the fork for some merge requests from forks. Its project is null when it is hidden. */
  readonly headPipeline: PipelineNode | null;
}

export interface PipelineNode {
  readonly id: string;
  readonly status: string;
  readonly project: { readonly fullPath: string } | null;
}

export interface WholeProjectNode extends ProjectNode {
  readonly mergeRequests: ConnectionPage<MergeRequestNode> | null;
  readonly issues: ConnectionPage<IssueNode> | null;
}

export interface JobNode {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly web_url: string;
  readonly duration: number | null;
  readonly failure_reason?: string | null;
}
