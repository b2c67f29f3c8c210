/** What GitLab answers: its GraphQL to the queries beside this file, and its REST API. */
import type { Page } from '../http/connections.js';

interface Latest {
  readonly count: number;
  readonly nodes: readonly ({ readonly updatedAt: string } | null)[];
}

export interface ProjectNode {
  readonly id: string;
  readonly fullPath: string;
  readonly webUrl: string;
  readonly archived: boolean;
  /** Older servers don't tell. */
  readonly isForked?: boolean | null;
  readonly lastActivityAt: string | null;
  readonly userPermissions: { readonly pushCode: boolean; readonly adminProject: boolean };
  /** Null where they are switched off. */
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
  /** Older servers don't tell. */
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
  /** Older servers don't tell. */
  readonly detailedMergeStatus?: string | null;
  readonly conflicts: boolean;
  readonly divergedFromTargetBranch: boolean;
  readonly autoMergeEnabled: boolean;
  readonly diffStatsSummary: { readonly fileCount: number } | null;
  /** Whether there are as many approvals as are required; only servers with such rules tell. */
  readonly approved?: boolean;
  readonly approvedBy: Users | null;
  readonly reviewers: { readonly nodes: readonly (Reviewer | null)[] } | null;
  readonly headPipeline: { readonly id: string; readonly status: string } | null;
}

export interface TargetNode extends MergeRequestNode {
  /** That of a fork may run there; its project is null when it is hidden. */
  readonly headPipeline: PipelineNode | null;
}

export interface PipelineNode {
  readonly id: string;
  readonly status: string;
  readonly project: { readonly fullPath: string } | null;
}

export interface WholeProjectNode extends ProjectNode {
  readonly mergeRequests: Page<MergeRequestNode> | null;
  readonly issues: Page<IssueNode> | null;
}

export interface JobNode {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly web_url: string;
  readonly duration: number | null;
  readonly failure_reason?: string | null;
}
