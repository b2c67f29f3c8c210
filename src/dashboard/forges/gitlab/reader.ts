import { mapWithConcurrency } from '@trellis/core/concurrency';
import type {
  Forge,
  ForgePullRequest,
  ForgeRepository,
  InvolvedOptions,
  InvolvedSnapshot,
  RepositorySnapshot,
} from '../forge.js';
import {
  isBotName,
  type PullRequestHistory,
  readChangedSince,
  readHistoriesInTurn,
  type ReadHistory,
  type ReviewEvent,
} from '../history.js';
import { type ConnectionPage, fetchRemainingPages, withoutNulls } from '../http/graphql-pages.js';
import {
  mapRepositories,
  mapValid,
  MAX_ISSUES,
  MAX_PULL_REQUESTS,
  MAX_REPOSITORIES,
  readRepositories,
  uniqueByNumber,
  type InvolvedSearch,
  readInvolvedPullRequests,
  isInvalidResponse,
} from '../read-repositories.js';
import { belongsOnBoard, toForgeIssue, toForgePullRequest, toRepository } from './parse.js';
import {
  DISCOVER,
  FIND_PROJECT,
  type IssueNode,
  type MergeRequestNode,
  MORE_ISSUES,
  MORE_MERGE_REQUESTS,
  type ProjectNode,
  READ_PROJECT,
  type WholeProjectNode,
  type FoundMergeRequestNode,
  type InvolvedProjectNode,
  READ_INVOLVED,
  SEARCHES,
  READ_HISTORY,
} from './queries.js';
import type { GitlabRequests } from './requests.js';

interface DiscoverData {
  readonly projects: ConnectionPage<ProjectNode>;
}

interface FindData {
  readonly projects: { readonly nodes: readonly (Pick<ProjectNode, 'fullPath'> | null)[] } | null;
}

type More = Pick<WholeProjectNode, 'issues' | 'mergeRequests'>;

const NOTHING = { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };

export function createGitlabReader(
  requests: GitlabRequests,
): Pick<Forge, 'discover' | 'read' | 'readHistory' | 'readRepository'> {
  /** Sends a query about one project. The caller chooses the result type that belongs to its query. */
  async function readProject<T>(
    query: string,
    variables: { path: string } & Record<string, unknown>,
  ): Promise<T | null> {
    return ((await requests.graphql(query, variables)) as { readonly project: T | null }).project;
  }

  async function readWhole(path: string): Promise<RepositorySnapshot | undefined> {
    const node = await readProject<WholeProjectNode>(READ_PROJECT, { path });
    if (node === null || !belongsOnBoard(node)) return undefined;
    const { fullPath } = node;
    const readMergeRequests = async (mergeRequestsAfter: string): Promise<ConnectionPage<MergeRequestNode>> =>
      (await readProject<More>(MORE_MERGE_REQUESTS, { path: fullPath, mergeRequestsAfter }))?.mergeRequests ?? NOTHING;
    const readIssues = async (issuesAfter: string): Promise<ConnectionPage<IssueNode>> =>
      (await readProject<More>(MORE_ISSUES, { path: fullPath, issuesAfter }))?.issues ?? NOTHING;
    const mergeRequests = await fetchRemainingPages(
      node.mergeRequests ?? NOTHING,
      MAX_PULL_REQUESTS,
      readMergeRequests,
    );
    const issues = await fetchRemainingPages(node.issues ?? NOTHING, MAX_ISSUES, readIssues);
    const rows = await mapValid(mergeRequests.nodes, (one) => toForgePullRequest(one, fullPath));
    const issueRows = await mapValid(issues.nodes.slice(0, MAX_ISSUES), (one) => toForgeIssue(one, fullPath));
    return {
      repository: toRepository(node),
      pullRequests: uniqueByNumber(rows.mapped),
      issues: uniqueByNumber(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  /** Reads a project whose name may be a former one, which a different project may have by now. */
  async function readKnown({ id, fullName }: ForgeRepository): Promise<RepositorySnapshot | undefined> {
    const reading = await readWhole(fullName);
    if (reading?.repository.id === id) return reading;
    const { projects } = (await requests.graphql(FIND_PROJECT, { ids: [id] })) as FindData;
    const [found] = withoutNulls(projects?.nodes ?? []);
    return found === undefined || found.fullPath === fullName ? undefined : readWhole(found.fullPath);
  }

  return {
    async discover() {
      const readPage = async (after: string | null): Promise<ConnectionPage<ProjectNode>> =>
        ((await requests.graphql(DISCOVER, { after })) as DiscoverData).projects;
      const { nodes } = await fetchRemainingPages(await readPage(null), MAX_REPOSITORIES, readPage);
      return mapRepositories(nodes, (node) => (belongsOnBoard(node) ? [toRepository(node)] : []));
    },
    read: (repositories) => readRepositories(repositories, readKnown),
    readHistory: createHistoryReader(requests),
    readRepository: readWhole,
  };
}

/** The most results of one search that are used. */
const MAX_FOUND = 500;

type Listed = FoundMergeRequestNode & { readonly target?: FoundMergeRequestNode | null };
type Found = Required<{ [Key in keyof FoundMergeRequestNode]: NonNullable<FoundMergeRequestNode[Key]> }>;

interface Data {
  readonly currentUser: { readonly found: ConnectionPage<Listed> | null } | null;
}

/** Finds the merge requests of the user, and reads those outside of the listed projects. @see Forge.readInvolved */
export async function readInvolvedMergeRequests(
  requests: Pick<GitlabRequests, 'graphql'>,
  listed: ReadonlySet<string>,
  options?: InvolvedOptions,
): Promise<InvolvedSnapshot> {
  async function search(query: string): Promise<InvolvedSearch<Found>> {
    const readPage = async (after: string | null): Promise<ConnectionPage<Listed>> =>
      ((await requests.graphql(query, { after })) as Data).currentUser?.found ?? NOTHING;
    const { nodes } = await fetchRemainingPages(await readPage(null), MAX_FOUND, readPage);
    const found = nodes.map((node) => node.target ?? node).filter(isFound);
    return { found: found.slice(0, MAX_FOUND), truncated: nodes.length > MAX_FOUND };
  }

  async function readOne({ iid, project: { fullPath } }: Found): Promise<ForgePullRequest | 'unread' | undefined> {
    try {
      const data = await requests.graphql(READ_INVOLVED, { path: fullPath, iid });
      const { project } = data as { readonly project: InvolvedProjectNode | null };
      // To-do items outlive their merge requests.
      if (project?.mergeRequest?.state !== 'opened') return undefined;
      const row = toForgePullRequest(project.mergeRequest, fullPath);
      return project.userPermissions.pushCode ? row : { ...row, readOnly: true };
    } catch (error) {
      if (isInvalidResponse(error)) return 'unread';
      throw error;
    }
  }

  return readInvolvedPullRequests(
    {
      search: (involvement) => search(SEARCHES[involvement]),
      keyOf: ({ iid, project }) => `${project.id} ${iid}`,
      repositoryOf: ({ project: { id, fullPath, webUrl } }) => ({ id, fullName: fullPath, url: webUrl }),
      read: (found) => mapWithConcurrency(found, readOne),
    },
    listed,
    options,
  );
}

const isFound = (node: FoundMergeRequestNode): node is Found => node.iid !== undefined && node.project != null;

interface Person {
  readonly username: string;
  /** Missing on older servers. */
  readonly bot?: boolean | null;
}

interface NoteNode {
  readonly system: boolean;
  readonly body: string;
  readonly createdAt: string;
  readonly author: Person | null;
}

interface HistoryNode {
  readonly iid: string;
  readonly title: string;
  readonly webUrl: string;
  readonly draft: boolean;
  readonly state: 'closed' | 'locked' | 'merged' | 'opened';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly mergedAt: string | null;
  /** Missing on older servers. */
  readonly closedAt?: string | null;
  readonly author: Person | null;
  readonly notes: { readonly nodes: readonly (NoteNode | null)[] | null } | null;
}

interface HistoryData {
  readonly project: { readonly mergeRequests: ConnectionPage<HistoryNode> | null } | null;
}

function createHistoryReader(requests: GitlabRequests): ReadHistory {
  async function readPage(path: string, after: string | null) {
    const { project } = (await requests.graphql(READ_HISTORY, { path, after })) as HistoryData;
    if (!project?.mergeRequests) return { items: [] };
    const { nodes, pageInfo } = project.mergeRequests;
    const next = pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;
    return { items: withoutNulls(nodes).map(toHistory), next };
  }

  return readHistoriesInTurn(async ({ fullName, since }) => {
    const first = await readPage(fullName, null);
    return readChangedSince(since, first, (after) => readPage(fullName, after));
  });
}

const isBot = (person: Person | null): boolean => person !== null && (person.bot ?? isBotName(person.username));

function toHistory(node: HistoryNode): PullRequestHistory {
  const {
    iid,
    title,
    webUrl: url,
    draft: isDraft,
    state,
    createdAt,
    updatedAt,
    mergedAt,
    closedAt,
    author,
    notes,
  } = node;
  const isOpen = state === 'opened' || state === 'locked';
  return {
    ...{ title, url, isDraft, createdAt, updatedAt },
    number: Number(iid),
    author: author?.username ?? 'ghost',
    authorIsBot: isBot(author),
    ...(mergedAt !== null && { mergedAt }),
    // Servers before 17.4 report no time.
    ...(!isOpen && { closedAt: mergedAt ?? closedAt ?? updatedAt }),
    events: withoutNulls(notes?.nodes ?? []).flatMap(toEvents),
  };
}

/** The notes that GitLab writes in English, whatever the language of its pages. */
const DRAFT_NOTE = /^marked (?:this|the) merge request as (?:a )?\*{0,2}(draft|ready)/i;
const VERDICTS: Readonly<Record<string, ReviewEvent['kind']>> = {
  'approved this merge request': 'approved',
  'requested changes': 'reviewed',
  'left review comments': 'reviewed',
};

/** Comments are reviews, as GitLab has no other trace of a review without a verdict. */
function toEvents({ system, body, createdAt: at, author }: NoteNode): ReviewEvent[] {
  const reviewer = { at, login: author?.username ?? 'ghost', isBot: isBot(author) };
  if (!system) return [{ kind: 'reviewed', ...reviewer }];
  const verdict = VERDICTS[body.trim()];
  if (verdict !== undefined) return [{ kind: verdict, ...reviewer }];
  const [, draft] = DRAFT_NOTE.exec(body) ?? [];
  if (draft !== undefined) return [{ kind: draft.toLowerCase() === 'ready' ? 'ready' : 'drafted', at }];
  const [, requested = '', removed = ''] =
    /^(?:requested review from (.*?))?(?: and )?(?:removed review request for (.*))?$/s.exec(body) ?? [];
  return [
    ...listLogins(requested).map((login) => ({ kind: 'requested' as const, at, login, isBot: isBotName(login) })),
    ...listLogins(removed).map((login) => ({ kind: 'request_removed' as const, at, login, isBot: isBotName(login) })),
  ];
}

/** The most reviewers that one note names. */
const MAX_NAMED = 50;

const listLogins = (text: string): readonly string[] =>
  Array.from(text.matchAll(/@([\w.-]*\w)/g), ([, login = '']) => login).slice(0, MAX_NAMED);
