/** What is kept here of repositories and pull requests, beside what forges say of them. */
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { PullRequestMarksTable, RepositoryMarksTable } from '../../storage/tables.js';
import type { ForgeName, PullRequest } from '../forges/facts.js';
import { showBotRequest, showUpdateRequest } from './requests.js';
import type { BotRequestState, UpdateRequestState } from './requests.js';

type AutoMerge = components['schemas']['AutoMerge'];
type AutoMerged = components['schemas']['AutoMergedPullRequest'];

export interface RepositoryMarks {
  readonly ignoredPRs: boolean;
  readonly ignoredIssues: boolean;
  readonly autoUpdateBranch: boolean;
  /** A delivery of it has proved to be the forge's. */
  readonly hasWebhook: boolean;
}

export interface PullRequestMarks {
  /** Merged or closed from here: off the board even while the forge lists it, until then, in milliseconds. */
  readonly heldUntil?: number | undefined;
  /** Merged here once it can be, where the forge leaves that to us; then {@link PullRequest.autoMergeEnabled} is true. */
  readonly autoMerge?: AutoMerge | undefined;
  /** Dependabot has refused a command of this credential. */
  readonly isRefused?: true;
  readonly botRequest?: NonNullable<PullRequest['botRequest']> | undefined;
  readonly updateRequest?: NonNullable<PullRequest['updateRequest']> | undefined;
}

/** Everything that one person's board needs of it. */
export interface Marks {
  /** By {@link repositoryKey}; one that nothing is said of is missing. */
  readonly repositories: ReadonlyMap<string, RepositoryMarks>;
  /** By {@link pullRequestKey}. */
  readonly pullRequests: ReadonlyMap<string, PullRequestMarks>;
  /** What was merged here by itself in the last 10 minutes, newest first. */
  readonly autoMerged: readonly AutoMerged[];
}

/** Forges take the name of a repository in any case. */
export function repositoryKey(forge: ForgeName, fullName: string): string {
  return `${forge} ${fullName.toLowerCase()}`;
}

export function pullRequestKey(forge: ForgeName, fullName: string, number: number): string {
  return `${repositoryKey(forge, fullName)} ${number}`;
}

/** Reads what holds at a moment, in two statements. */
export async function readMarks(database: Database, personId: string, at: number = Date.now()): Promise<Marks> {
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

/** Rows have names in lower case, and only forges that the contract knows. */
const keyOf = ({ forge, repo }: { readonly forge: string; readonly repo: string }): string => `${forge} ${repo}`;

function toRepositoryMarks(row: RepositoryMarksTable): RepositoryMarks {
  return {
    ignoredPRs: row.ignored_prs === 1,
    ignoredIssues: row.ignored_issues === 1,
    autoUpdateBranch: row.auto_update_branch === 1,
    hasWebhook: row.webhook_seen_at !== null,
  };
}

function collect(rows: readonly PullRequestMarksTable[], at: number): Map<string, PullRequestMarks> {
  const found = new Map<string, PullRequestMarks>();
  for (const row of rows) {
    const key = `${keyOf(row)} ${row.number}`;
    const shown = toMarks(row, at);
    if (shown !== undefined) found.set(key, { ...found.get(key), ...shown });
  }
  return found;
}

function toMarks({ kind, state, expires_at }: PullRequestMarksTable, at: number): PullRequestMarks | undefined {
  switch (kind) {
    case 'held':
      return { heldUntil: expires_at ?? 0 };
    case 'auto_merge':
      return { autoMerge: toAutoMerge(JSON.parse(state) as AutoMerge) };
    case 'bot_request':
      return toBotMarks(JSON.parse(state) as BotRequestState, at);
    case 'update_request':
      return { updateRequest: showUpdateRequest(JSON.parse(state) as UpdateRequestState, at) };
    default:
      return undefined;
  }
}

function toBotMarks(state: BotRequestState, at: number): PullRequestMarks {
  return { botRequest: showBotRequest(state, at), ...(state.isRefused && { isRefused: true }) };
}

/** What is kept has more, by which it is decided how to go on. */
function toAutoMerge({ state, code, message }: AutoMerge): AutoMerge {
  return { state, message, ...(code === undefined ? {} : { code }) };
}

function listAutoMerged(rows: readonly PullRequestMarksTable[]): AutoMerged[] {
  const merged = rows.filter(({ kind }) => kind === 'auto_merged').map(({ state }) => JSON.parse(state) as AutoMerged);
  return merged.sort((a, b) => Date.parse(b.mergedAt) - Date.parse(a.mergedAt));
}
