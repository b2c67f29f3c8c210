import { execute, GraphQLError } from 'graphql';
import { costOfGithubQuery, githubSchema, parseGithubQuery } from './github-schema.js';
import type { GithubIssue, GithubPullRequest, GithubRepository, GithubRun } from './github-state.js';

export interface GithubGraphqlState {
  readonly login: string;
  readonly repositories: readonly GithubRepository[];
  readonly origin: string;
  readonly rateLimit: () => object;
  /** The organizations that require single sign-on, for which the token is not authorized. */
  readonly hiddenOrganizations: readonly string[];
  /** The policy for which these organizations reject the token instead, as GitHub's message. */
  readonly organizationPolicy: string | undefined;
  /** The teams of the viewer. */
  readonly teams: readonly string[];
  /** Whether the caller is an App, which neither owns repositories nor has a permission in them. */
  readonly isApp?: boolean;
  /** Whether every page of a list is followed by the same page. */
  readonly repeatsPages: boolean;
  /** The part of checks that the token has no access to: the whole rollup, or the check runs in it. */
  readonly hiddenChecks: 'contexts.nodes' | 'statusCheckRollup' | undefined;
  /** The numbers of the pull requests that GitHub fails to compute. */
  readonly brokenPullRequests: readonly number[];
  /** The error of every search. */
  readonly searchError: GraphQLError | undefined;
}

/** Executes a query like GitHub. Errors have a `type` next to the message. */
export async function executeGithub(body: string, state: GithubGraphqlState): Promise<object> {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
  const document = parseGithubQuery(query);
  const cost = costOfGithubQuery(query, variables);
  const rootValue = toRoot({ ...state, rateLimit: () => ({ ...state.rateLimit(), cost }) });
  const { data, errors } = await execute({ schema: githubSchema, document, rootValue, variableValues: variables });
  const shown = errors?.map(({ message, path, extensions: { type, ...extensions } }) => ({
    type,
    path,
    message,
    extensions,
  }));
  return { ...(data === undefined ? {} : { data }), ...(shown && { errors: shown }) };
}

/** Counts the pull requests that a query reads completely, which determine its cost for GitHub. */
export function countPullRequests(body: string, { repositories }: Pick<GithubGraphqlState, 'repositories'>): number {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Readonly<Record<string, unknown>> };
  const { ids, id, owner, name, pageSize } = variables;
  if (query.includes('query ReadPullRequests')) return (ids as readonly string[]).length;
  if (!query.includes('...pullRequests')) return 0;
  const asked = Array.isArray(ids) ? ids : [id];
  const fullName = [owner, name].join('/');
  const found = repositories.filter((one) => asked.includes(one.id) || one.nameWithOwner === fullName);
  return found.reduce((sum, { pullRequests }) => sum + Math.min(pullRequests.length, Number(pageSize)), 0);
}

interface PageArguments {
  readonly first?: number;
  readonly after?: string | null;
  readonly states?: readonly string[];
  readonly orderBy?: { readonly field: string; readonly direction: 'ASC' | 'DESC' };
}

interface OwnArguments extends PageArguments {
  readonly isFork?: boolean;
  readonly isArchived?: boolean;
  readonly affiliations?: readonly string[] | null;
  readonly ownerAffiliations?: readonly string[] | null;
}

/** Both lists of affiliations apply to the viewer, so a repository must match both. */
function isAffiliated({ nameWithOwner, affiliation }: GithubRepository, login: string, asked: OwnArguments): boolean {
  const actual = nameWithOwner.startsWith(`${login}/`) ? 'OWNER' : affiliation;
  return [asked.affiliations, asked.ownerAffiliations].every((list) => list?.includes(actual) ?? true);
}

function toRoot(state: GithubGraphqlState) {
  const { login, repositories, rateLimit } = state;
  const toNode = (repository: GithubRepository) =>
    isHidden(repository, state) ? rejectedByOrganization(state) : toRepositoryNode(repository, state);
  const findById = (id: string) => {
    const [, place, ofId] = /^IC_(\d+)_(.*)$/.exec(id) ?? [];
    const all = ofId === undefined ? [] : repositories.flatMap(({ pullRequests }) => pullRequests);
    const one = all.find((pull) => pull.id === ofId);
    if (one) return toCommentNode(one, Number(place));
    const pull = findPullRequest(repositories, id);
    if (pull) return isHidden(pull.repository, state) ? rejectedByOrganization(state) : toOwnNode(pull, state);
    const found = repositories.find((repository) => repository.id === id);
    return found ? toNode(found) : notFound(`Could not resolve to a node with the global id of '${id}'.`);
  };
  return {
    rateLimit,
    viewer: {
      id: `U_${login}`,
      login,
      repositories: ({ isFork, isArchived, ...page }: OwnArguments) => {
        const known = state.isApp === true ? [] : repositories.filter((one) => isAffiliated(one, login, page));
        const own = known.filter((one) => one.isFork === (isFork ?? one.isFork));
        const matching = own.filter((one) => one.isArchived === (isArchived ?? one.isArchived));
        return toConnection(matching, page, state, toNode);
      },
    },
    repository: ({ owner, name }: { readonly owner: string; readonly name: string }) => {
      const found = findRepository(repositories, `${owner}/${name}`);
      return found ? toNode(found) : notFound(`Could not resolve to a Repository with the name '${owner}/${name}'.`);
    },
    node: ({ id }: { readonly id: string }) => findById(id),
    nodes: ({ ids }: { readonly ids: readonly string[] }) =>
      ids.length > MAX_IDS ? tooManyIds(ids.length) : ids.map(findById),
    search: ({ query, ...page }: PageArguments & { readonly query: string }) =>
      state.searchError ?? search(query, page, state),
    enablePullRequestAutoMerge: ({ input }: { readonly input: AutoMergeInput }) => enableAutoMerge(repositories, input),
    disablePullRequestAutoMerge: ({ input }: { readonly input: QueueInput }) => disableAutoMerge(repositories, input),
    enqueuePullRequest: ({ input }: { readonly input: QueueInput }) => enqueue(repositories, input),
    dequeuePullRequest: ({ input }: { readonly input: { readonly id: string } }) =>
      dequeue(repositories, { pullRequestId: input.id }),
  };
}

/** Finds a repository by its current or a former name. */
export function findRepository(
  repositories: readonly GithubRepository[],
  fullName: string,
): GithubRepository | undefined {
  const byName = repositories.find(({ nameWithOwner }) => nameWithOwner === fullName);
  return byName ?? repositories.find(({ formerNames }) => formerNames.includes(fullName));
}

/** GitHub accepts as many ids in one list. */
const MAX_IDS = 100;

const tooManyIds = (count: number): GraphQLError =>
  new GraphQLError(`You may not provide more than ${MAX_IDS} node ids; you provided ${count}.`, {
    extensions: { type: 'ARGUMENT_LIMIT' },
  });

const SOMETHING_WENT_WRONG =
  'Something went wrong while executing your query on 2026-05-02T08:00:00Z. Please include `D0:1` when reporting this issue.';

const isHidden = (
  { nameWithOwner }: GithubRepository,
  { hiddenOrganizations }: Pick<GithubGraphqlState, 'hiddenOrganizations'>,
): boolean => hiddenOrganizations.some((name) => nameWithOwner.startsWith(`${name}/`));

const rejectedByOrganization = ({ organizationPolicy: policy }: GithubGraphqlState): GraphQLError =>
  new GraphQLError(
    policy ??
      'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
    { extensions: { type: 'FORBIDDEN', saml_failure: policy === undefined } },
  );

const forbidden = (): GraphQLError =>
  new GraphQLError('Resource not accessible by personal access token', { extensions: { type: 'FORBIDDEN' } });

function notFound(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type: 'NOT_FOUND' } });
}

interface AutoMergeInput {
  readonly pullRequestId: string;
  readonly mergeMethod: string;
  readonly expectedHeadOid?: string | null;
}

function enableAutoMerge(repositories: readonly GithubRepository[], input: AutoMergeInput) {
  const repository = repositories.find((one) => one.pullRequests.some(({ id }) => id === input.pullRequestId));
  const found = repository?.pullRequests.find(({ id }) => id === input.pullRequestId);
  if (!repository || !found) return notFound('Could not resolve to a node.');
  const refuse = (message: string) => new GraphQLError(message, { extensions: { type: 'UNPROCESSABLE' } });
  if (!repository.autoMergeAllowed) return refuse('Auto merge is not allowed for this repository');
  if (found.mergeStateStatus === 'CLEAN') return refuse('Pull request is in clean status');
  if ((input.expectedHeadOid ?? found.headRefOid) !== found.headRefOid) return refuse('Head sha does not match');
  found.autoMerge = input.mergeMethod;
  return { clientMutationId: null };
}

type Term = (one: GithubPullRequest, repository: GithubRepository, state: GithubGraphqlState) => boolean;

/** The search terms that the client uses. Searching for review requests needs no permission to read teams. */
const TERMS: Readonly<Record<string, Term>> = {
  'is:open': ({ state }) => state === 'OPEN',
  'is:pr': () => true,
  'archived:false': (_one, { isArchived }) => !isArchived,
  'author:@me': ({ author }, _repository, { login }) => author === login,
  'assignee:@me': ({ assignees }, _repository, { login }) => assignees.includes(login),
  'mentions:@me': ({ mentions }, _repository, { login }) => mentions.includes(login),
  'review-requested:@me': ({ requested }, _repository, { login, teams }) =>
    [login, ...teams.map((team) => `team:${team}`)].some((one) => requested.includes(one)),
  'sort:updated-desc': () => true,
};

/** GitHub returns the first thousand results of a search only, and none of organizations that need single sign-on. */
const MAX_RESULTS = 1_000;

function search(query: string, page: PageArguments, state: GithubGraphqlState) {
  const found = findAll(query, state);
  const connection = toConnection(found.slice(0, MAX_RESULTS), page, state, (one) => toOwnNode(one, state));
  return { ...connection, issueCount: found.length };
}

function findAll(query: string, state: GithubGraphqlState) {
  const terms = query.split(' ').map((text) => {
    const term = TERMS[text];
    if (term === undefined) throw new Error(`This search term is not supported: ${text}`);
    return term;
  });
  const visible = state.repositories.filter((repository) => !isHidden(repository, state));
  const found = visible.flatMap((repository) =>
    repository.pullRequests
      .filter((pullRequest) => terms.every((term) => term(pullRequest, repository, state)))
      .map((pullRequest) => ({ repository, pullRequest })),
  );
  return found.toSorted((a, b) => compare(b.pullRequest.updatedAt, a.pullRequest.updatedAt));
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** Returns a pull request with its repository, as where it is not found through the repository. */
function toOwnNode(
  { repository, pullRequest }: { readonly repository: GithubRepository; readonly pullRequest: GithubPullRequest },
  state: GithubGraphqlState,
) {
  const url = `${state.origin}/${repository.nameWithOwner}`;
  const node = toPullRequestNode(pullRequest, { repository, url, state });
  return { ...node, repository: () => toRepositoryNode(repository, state) };
}

interface QueueInput {
  readonly pullRequestId: string;
  readonly expectedHeadOid?: string | null;
}

const unprocessable = (message: string) => new GraphQLError(message, { extensions: { type: 'UNPROCESSABLE' } });

function findPullRequest(repositories: readonly GithubRepository[], id: string) {
  const repository = repositories.find((one) => one.pullRequests.some((pull) => pull.id === id));
  const pullRequest = repository?.pullRequests.find((pull) => pull.id === id);
  return repository && pullRequest && { repository, pullRequest };
}

function disableAutoMerge(repositories: readonly GithubRepository[], { pullRequestId }: QueueInput) {
  const found = findPullRequest(repositories, pullRequestId);
  if (!found) return notFound('Could not resolve to a node.');
  if (found.pullRequest.autoMerge === null) return unprocessable("Can't disable auto-merge for this pull request");
  found.pullRequest.autoMerge = null;
  return { clientMutationId: null };
}

function enqueue(repositories: readonly GithubRepository[], { pullRequestId, expectedHeadOid }: QueueInput) {
  const found = findPullRequest(repositories, pullRequestId);
  if (!found) return notFound('Could not resolve to a node.');
  const { repository, pullRequest } = found;
  if (!repository.usesMergeQueue) return unprocessable('Merge queue is not enabled for this branch');
  if (pullRequest.queued) return unprocessable('Pull request is already in the queue');
  if ((expectedHeadOid ?? pullRequest.headRefOid) !== pullRequest.headRefOid) {
    return unprocessable('Head sha did not match expected head sha');
  }
  if (pullRequest.isDraft || pullRequest.mergeable === 'CONFLICTING')
    return unprocessable('Pull request is not mergeable');
  pullRequest.queued = true;
  return { clientMutationId: null };
}

function dequeue(repositories: readonly GithubRepository[], { pullRequestId }: QueueInput) {
  const found = findPullRequest(repositories, pullRequestId);
  if (!found) return notFound('Could not resolve to a node.');
  if (!found.pullRequest.queued) return unprocessable('Pull request is not in the merge queue');
  found.pullRequest.queued = false;
  return { clientMutationId: null };
}

function toRepositoryNode(repository: GithubRepository, state: GithubGraphqlState) {
  const { pullRequests, issues, nameWithOwner } = repository;
  const url = `${state.origin}/${nameWithOwner}`;
  const toPullRequest = (one: GithubPullRequest) => toPullRequestNode(one, { repository, url, state });
  return {
    ...repository,
    __typename: 'Repository',
    viewerPermission: state.isApp === true ? null : repository.viewerPermission,
    url,
    pullRequest: ({ number }: { readonly number: number }) => {
      const found = pullRequests.find((one) => one.number === number);
      return found
        ? toPullRequest(found)
        : notFound(`Could not resolve to a PullRequest with the number of ${number}.`);
    },
    pullRequests: (page: PageArguments) => toConnection(select(pullRequests, page), page, state, toPullRequest),
    issues: (page: PageArguments) =>
      toConnection(select(issues, page), page, state, (one) => toIssueNode(one, `${url}/issues/${one.number}`)),
  };
}

function select<T extends { state: string; updatedAt: string; createdAt: string }>(
  items: readonly T[],
  { states, orderBy }: PageArguments,
): T[] {
  const selected = items.filter(({ state }) => states?.includes(state) ?? true);
  const key = orderBy?.field === 'UPDATED_AT' ? 'updatedAt' : 'createdAt';
  const sign = orderBy?.direction === 'DESC' ? -1 : 1;
  return selected.sort((a, b) => sign * compare(a[key], b[key]));
}

function toConnection<T, Node>(
  items: readonly T[],
  { first = 100, after }: PageArguments,
  state: { repeatsPages: boolean },
  toNode: (item: T) => Node,
) {
  const start = after ? Number(Buffer.from(after, 'base64').toString().slice('cursor:'.length)) : 0;
  const end = state.repeatsPages ? 0 : Math.min(start + first, items.length);
  return {
    nodes: (state.repeatsPages ? items.slice(0, first) : items.slice(start, end)).map(toNode),
    totalCount: items.length,
    pageInfo: {
      hasNextPage: state.repeatsPages || end < items.length,
      endCursor: Buffer.from(`cursor:${end}`).toString('base64'),
    },
  };
}

function toIssueNode(issue: Pick<GithubIssue, 'author' | 'labels'>, url: string) {
  const { author, labels } = issue;
  const isBot = author?.endsWith('[bot]') === true;
  const name = author?.replace('[bot]', '') ?? '';
  const login = author === null ? null : { __typename: isBot ? 'Bot' : 'User', id: author, login: name };
  return { ...issue, url, author: login, labels: { nodes: labels, totalCount: labels.length } };
}

interface PullRequestPlace {
  readonly repository: GithubRepository;
  readonly url: string;
  readonly state: GithubGraphqlState;
}

function toPullRequestNode(one: GithubPullRequest, { repository, url, state }: PullRequestPlace) {
  const { number, requested, reviews, autoMerge, headRefOid, checks } = one;
  const rollup =
    state.hiddenChecks === 'statusCheckRollup' ? forbidden() : checks.length === 0 ? null : toRollup(one, state);
  return {
    ...toIssueNode(one, `${url}/pull/${number}`),
    __typename: 'PullRequest',
    baseRef: toBaseRef(repository),
    milestone: one.milestone === null ? null : { title: one.milestone },
    assignees: { totalCount: one.assignees.length, nodes: one.assignees.map((login) => ({ id: login, login })) },
    ...(state.brokenPullRequests.includes(number) && { title: new GraphQLError(SOMETHING_WENT_WRONG) }),
    isMergeQueueEnabled: repository.usesMergeQueue,
    mergeQueueEntry: one.queued ? { id: `Q_${one.id}`, position: toPosition(one, repository), state: 'QUEUED' } : null,
    autoMergeRequest: autoMerge === null ? null : { enabledAt: one.updatedAt },
    reviewRequests: {
      totalCount: requested.length,
      nodes: requested.map((login) => ({
        asCodeOwner: one.codeOwners.includes(login),
        requestedReviewer: login.startsWith('team:')
          ? { __typename: 'Team', slug: login.slice(5), combinedSlug: login.replace('team:', 'acme/') }
          : { __typename: 'User', id: login, login },
      })),
    },
    latestOpinionatedReviews: { totalCount: reviews.length, nodes: reviews.map(toLatestReview) },
    reviews: ({ last = 100 }: { readonly last?: number }) => ({
      totalCount: one.submitted.length,
      nodes: one.submitted.slice(-last).map(toAuthored),
    }),
    timelineItems: (asked: TimelineArguments) => {
      const nodes = toTimeline(one, asked);
      return {
        ...toConnection(nodes, asked, state, (node) => node),
        filteredCount: nodes.length,
        updatedAt: one.updatedAt,
      };
    },
    reviewThreads: {
      totalCount: one.threads.length,
      nodes: one.threads.map(({ author, text, ...thread }) => ({
        ...thread,
        comments: { totalCount: 1, nodes: [toTextNode({ author, text }, `${url}/pull/${number}#discussion`)] },
      })),
    },
    comments: {
      totalCount: one.replies.length,
      nodes: one.replies.map((text) => toTextNode({ author: 'dependabot', text }, `${url}/pull/${number}#comment`)),
    },
    statusCheckRollup: rollup,
    commits: { totalCount: 1, nodes: [{ commit: { oid: headRefOid, statusCheckRollup: rollup } }] },
  };
}

/** The reviewers are numbered. */
function toLatestReview(state: string, index: number) {
  const login = `reviewer-${index + 1}`;
  return { state, submittedAt: '2026-05-01T08:00:00Z', author: { __typename: 'User', id: login, login } };
}

/** Branch protection, and a ruleset for each further number of required approvals. */
function toBaseRef({ requiresLinearHistory, requiredApprovals }: GithubRepository) {
  const [requiredApprovingReviewCount, ...others] = requiredApprovals;
  const rules = others.map((count) => ({
    type: 'PULL_REQUEST',
    parameters: { __typename: 'PullRequestParameters', requiredApprovingReviewCount: count },
  }));
  const other = { type: 'DELETION', parameters: null };
  return {
    branchProtectionRule: { requiresLinearHistory, requiredApprovingReviewCount },
    rules: { totalCount: rules.length + 1, nodes: [...rules, other] },
  };
}

interface TimelineArguments extends PageArguments {
  readonly itemTypes?: readonly string[];
}

/** Returns the events of the requested types, in the order in which they happened. */
function toTimeline({ submitted, timeline }: GithubPullRequest, { itemTypes }: TimelineArguments) {
  const reviews = submitted.map((one) => ({
    ...toAuthored(one),
    __typename: 'PullRequestReview',
    type: 'PULL_REQUEST_REVIEW',
    at: one.submittedAt ?? '9999',
  }));
  const events = timeline.map(({ type, createdAt, login }) => ({
    __typename: toTypeName(type),
    ...{ type, createdAt, at: createdAt },
    requestedReviewer:
      login === undefined ? null : login.startsWith('team:') ? { __typename: 'Team' } : { __typename: 'User', login },
  }));
  const all = [...reviews, ...events].filter(({ type }) => itemTypes?.includes(type) ?? true);
  return all.toSorted((a, b) => a.at.localeCompare(b.at));
}

const toTypeName = (type: string): string =>
  type.toLowerCase().replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** Bots have no suffix in GraphQL. */
const toLogin = (author: string | null) =>
  author === null
    ? null
    : { __typename: author.endsWith('[bot]') ? 'Bot' : 'User', id: author, login: author.replace('[bot]', '') };

const toAuthored = <T extends { readonly author: string | null }>(one: T) => ({ ...one, author: toLogin(one.author) });

const toTextNode = ({ author, text }: { readonly author: string; readonly text: string }, url: string) => ({
  bodyText: text,
  url,
  createdAt: COMMENTED,
  author: toLogin(author),
});

function toPosition(one: GithubPullRequest, { pullRequests }: GithubRepository): number {
  return pullRequests.filter(({ queued }) => queued).indexOf(one) + 1;
}

const COMMENTED = '2026-05-02T09:00:00Z';

function toCommentNode(one: GithubPullRequest, place: number) {
  const bot = { __typename: 'Bot', id: 'BOT_1', login: 'dependabot' };
  const reactedAt = one.thumbs[place];
  const edges = reactedAt === undefined ? [] : [{ node: bot, reactedAt }];
  const toNode = (body: string) => ({ __typename: 'IssueComment', id: body, createdAt: COMMENTED, body, author: bot });
  return {
    ...toNode(one.comments[place] ?? ''),
    id: `IC_${place}_${one.id}`,
    reactionGroups: [{ content: 'THUMBS_UP', reactors: { edges, totalCount: edges.length } }],
    pullRequest: { comments: { nodes: one.replies.map(toNode), totalCount: one.replies.length } },
  };
}

const GOOD = new Set(['SUCCESS', 'NEUTRAL', 'SKIPPED']);
const RUNNING = new Set(['QUEUED', 'IN_PROGRESS', 'PENDING', 'WAITING', 'EXPECTED']);

/** Any completed check that isn't successful is a failure, including cancelled ones. */
function toRollup({ checks }: GithubPullRequest, state: GithubGraphqlState) {
  const stateOf = (one: (typeof checks)[number]): string =>
    one.kind === 'status' ? one.state : (one.conclusion ?? one.status);
  const states = checks.map(stateOf);
  const isRed = states.some((one) => !GOOD.has(one) && !RUNNING.has(one));
  const running = states.some((one) => RUNNING.has(one)) ? 'PENDING' : 'SUCCESS';
  const count = (kind: 'run' | 'status') => {
    const counts = new Map<string, number>();
    for (const one of checks.filter((check) => check.kind === kind)) {
      counts.set(stateOf(one), (counts.get(stateOf(one)) ?? 0) + 1);
    }
    return Array.from(counts, ([name, many]) => ({ state: name, count: many }));
  };
  return {
    state: isRed ? 'FAILURE' : running,
    contexts: (page: PageArguments) => ({
      ...toConnection(checks, page, state, (one) =>
        state.hiddenChecks === 'contexts.nodes' && one.kind === 'run'
          ? forbidden()
          : toContextNode(one, checks, state.origin),
      ),
      checkRunCountsByState: count('run'),
      statusContextCountsByState: count('status'),
    }),
  };
}

type TestCheck = GithubPullRequest['checks'][number];

function toContextNode(check: TestCheck, checks: readonly TestCheck[], origin: string) {
  if (check.kind === 'status') return { ...check, __typename: 'StatusContext', isRequired: check.required };
  const url = `${origin}/runs/${check.databaseId}`;
  return {
    ...check,
    __typename: 'CheckRun',
    isRequired: check.required,
    url,
    detailsUrl: url,
    startedAt: check.status === 'QUEUED' ? null : '2026-05-02T08:00:00Z',
    completedAt: check.status === 'COMPLETED' ? '2026-05-02T08:01:30Z' : null,
    checkSuite: {
      status: isSuiteRunning(check, checks) ? 'IN_PROGRESS' : 'COMPLETED',
      workflowRun: check.workflowRun === null ? null : { databaseId: check.workflowRun },
    },
  };
}

/** A workflow run has one suite. Other apps have one for each check here. */
function isSuiteRunning({ workflowRun, ...check }: GithubRun, checks: readonly TestCheck[]): boolean {
  if (workflowRun === null) return check.status !== 'COMPLETED';
  return checks.some((one) => one.kind === 'run' && one.workflowRun === workflowRun && one.status !== 'COMPLETED');
}
