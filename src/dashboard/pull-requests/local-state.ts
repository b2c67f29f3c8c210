/** Local state: the data that Trellis stores about repositories and pull requests, beyond the forges' own. */
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { PullRequestMarksTable, RepositoryMarksTable } from '../../storage/tables.js';
import type { PullRequest } from '../forges/forge.js';
import { type BotRequestState, toPublicBotRequest, toPublicUpdateRequest, type UpdateRequestState } from './effects.js';

type AutoMerge = components['schemas']['AutoMerge'];
type AutoMerged = components['schemas']['AutoMergedPullRequest'];

export interface RepositoryState {
  readonly ignoredPRs: boolean;
  readonly ignoredIssues: boolean;
  readonly autoUpdateBranch: boolean;
  /** Whether the repository has sent an authenticated webhook delivery. */
  readonly hasWebhook: boolean;
}

export interface PullRequestState {
  /** Until then, in milliseconds, the board hides the pull request, which was merged or closed through Trellis. */
  readonly hiddenUntil?: number;
  /** Set if Trellis auto-merges in place of the forge. Then {@link PullRequest.autoMergeEnabled} is true. */
  readonly autoMerge?: AutoMerge;
  /** Whether Dependabot has rejected a command of this credential. */
  readonly isRejected?: true;
  readonly botRequest?: NonNullable<PullRequest['botRequest']>;
  readonly updateRequest?: NonNullable<PullRequest['updateRequest']>;
}

/** The local state of one user's board. */
export interface LocalState {
  /** Keyed by `repositoryKey`; repositories without state are missing. */
  readonly repositories: ReadonlyMap<string, RepositoryState>;
  /** Keyed by `pullRequestKey`; pull requests without state are missing. */
  readonly pullRequests: ReadonlyMap<string, PullRequestState>;
  /** The pull requests that Trellis auto-merged in the last 10 minutes, newest first. */
  readonly autoMerged: readonly AutoMerged[];
}

/** Reads the local state without expired entries, in two statements. */
export async function readLocalState(
  database: Database,
  personId: string,
  at: number = Date.now(),
): Promise<LocalState> {
  const rows = await database.selectFrom('repository_marks').selectAll().where('person_id', '=', personId).execute();
  const marks = await database
    .selectFrom('pull_request_marks')
    .selectAll()
    .where('person_id', '=', personId)
    .where((or) => or.or([or('expires_at', 'is', null), or('expires_at', '>', at)]))
    .execute();
  return {
    repositories: new Map(rows.map((row) => [keyOf(row), toRepositoryMarks(row)])),
    pullRequests: collect(marks, at),
    autoMerged: listAutoMerged(marks),
  };
}

/** Stored names are in lower case already. */
const keyOf = ({ forge, repo }: { readonly forge: string; readonly repo: string }): string => `${forge} ${repo}`;

function toRepositoryMarks(row: RepositoryMarksTable): RepositoryState {
  return {
    ignoredPRs: row.ignored_prs === 1,
    ignoredIssues: row.ignored_issues === 1,
    autoUpdateBranch: row.auto_update_branch === 1,
    hasWebhook: row.webhook_seen_at !== null,
  };
}

function collect(rows: readonly PullRequestMarksTable[], at: number): Map<string, PullRequestState> {
  const found = new Map<string, PullRequestState>();
  for (const row of rows) {
    const key = `${keyOf(row)} ${row.number}`;
    const shown = toMarks(row, at);
    if (shown !== undefined) found.set(key, { ...found.get(key), ...shown });
  }
  return found;
}

function toMarks({ kind, state, expires_at }: PullRequestMarksTable, at: number): PullRequestState | undefined {
  switch (kind) {
    case 'held':
      return { hiddenUntil: expires_at ?? 0 };
    case 'auto_merge':
      return { autoMerge: toAutoMerge(JSON.parse(state) as AutoMerge) };
    case 'bot_request':
      return toBotMarks(JSON.parse(state) as BotRequestState, at);
    case 'update_request':
      return { updateRequest: toPublicUpdateRequest(JSON.parse(state) as UpdateRequestState, at) };
    default:
      return undefined;
  }
}

function toBotMarks(state: BotRequestState, at: number): PullRequestState {
  return { botRequest: toPublicBotRequest(state, at), ...(state.isRefused && { isRejected: true }) };
}

/** Drops the internal fields of the stored state. */
function toAutoMerge({ state, code, message }: AutoMerge): AutoMerge {
  return { state, message, ...(code === undefined ? {} : { code }) };
}

function listAutoMerged(rows: readonly PullRequestMarksTable[]): AutoMerged[] {
  const merged = rows.filter(({ kind }) => kind === 'auto_merged').map(({ state }) => JSON.parse(state) as AutoMerged);
  return merged.sort((a, b) => Date.parse(b.mergedAt) - Date.parse(a.mergedAt));
}
