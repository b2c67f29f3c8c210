import { ForgeError } from '../forge-error.js';
import type {
  Forge,
  ForgeRepository,
  Inspection,
  MissingPermission,
  WebhookConfig,
  PullRequestDetails,
  PullRequestTarget,
} from '../forge.js';
import { type FieldError, withoutNulls } from '../http/graphql-pages.js';
import type { RestClient } from '../http/requests.js';
import { toRepositoryPath, readPullRequestState, toOwnerAndName } from '../read-repositories.js';
import { withForgeErrors } from '../sanitize.js';
import {
  findMissingPermissions,
  type PermissionProbe,
  probeWebhookAccess,
  deleteWebhooks,
  listMatchingWebhooks,
  withPermissionError,
} from '../webhooks.js';
import {
  createUserAccess,
  type Installation,
  type InstallationOptions,
  openInstallation,
  toRepositoryAccess,
} from './access.js';
import { actOnGithub, GITHUB_ACTIONS, readBotReplies } from './actions.js';
import { CHECKS_PERMISSION, readChecks } from './checks.js';
import { PROBE_CHECKS, READ_DETAILS } from './queries.js';
import { createGithubReader } from './reader.js';
import {
  createGithubRequests,
  GITHUB_API,
  type GithubOptions,
  type GithubRequests,
  toGithubApiUrl,
  toGithubWebUrl,
} from './requests.js';

export interface GithubForgeOptions extends GithubOptions {
  readonly rebaseLabel?: string;
  /** The App installation that issues the tokens, unless it is a user's token. */
  readonly installation?: Installation;
}

/** Creates a client for the repositories of an App installation. */
export function createInstallationForge(options: InstallationOptions & Pick<GithubForgeOptions, 'rebaseLabel'>): Forge {
  const installation = openInstallation(options);
  const baseUrl = toGithubApiUrl(options.app.url);
  return createGithubForge({ ...options, baseUrl, installation, token: installation.token });
}

/** Creates a client for GitHub or GitHub Enterprise Server. */
export function createGithubForge({ rebaseLabel = 'rebase', installation, ...options }: GithubForgeOptions): Forge {
  const requests = createGithubRequests(options);
  const reach = installation === undefined ? createUserAccess(requests) : toRepositoryAccess(installation, requests);
  const reader = createGithubReader(requests, reach);
  const forge: Forge = {
    name: 'github',
    actions: GITHUB_ACTIONS,
    quotas: requests.budgets,
    get hidden() {
      return requests.hidden;
    },
    get expiresAt() {
      return requests.expiresAt;
    },
    ...reader,
    inspect: () =>
      installation === undefined
        ? inspectToken(requests, reader.discover)
        : inspectInstallation(installation, { requests, discover: reader.discover }),
    readState: (target) => readPullRequestState(requests, target),
    checks: (target) => readChecks(requests, target),
    details: (target) => readGithubDetails(requests, target),
    act: (target, action) => actOnGithub({ requests, rebaseLabel }, target, action),
    readReplies: (comments) => readBotReplies(requests, comments),
    ensureWebhook: (fullName, hook) => ensureGithubWebhook(requests, fullName, hook),
  };
  return withForgeErrors(forge, toGithubWebUrl(options.baseUrl ?? GITHUB_API));
}

type Discover = Forge['discover'];

/** Finds the user of a token and its missing permissions. */
async function inspectToken(requests: GithubRequests, discover: Discover): Promise<Inspection> {
  const { login, scopes } = await requests.readViewer();
  const repositories = await discover();
  const refused = await findMissingPermissions(toProbes(requests, repositories));
  return {
    username: login,
    repositories,
    expiresAt: requests.expiresAt,
    missing: [...findMissingScopes(scopes), ...toHiddenPermission(requests), ...refused],
  };
}

function toHiddenPermission({ hidden }: GithubRequests): MissingPermission[] {
  if (hidden === undefined) return [];
  if (hidden.reason === 'organization_policy') {
    const purpose =
      'to read the repositories of organizations that reject this kind of token, or the address of this server';
    return [{ permission: 'The policy of an organization', purpose }];
  }
  const place = hidden.url === undefined ? 'in the settings of the token at GitHub' : `at ${hidden.url}`;
  const purpose = `to read the repositories of organizations that require it; authorize the token ${place}`;
  return [{ permission: 'Single sign-on', purpose }];
}

/** Checks the scopes of a classic token, of which `repo` includes all others. Other tokens have no scopes. */
function findMissingScopes(scopes: readonly string[]): MissingPermission[] {
  if (scopes.length === 0 || scopes.includes('repo')) return [];
  return [{ permission: 'repo', purpose: 'to read private repositories and act on pull requests' }];
}

/** Probes one repository in place of all, as GitHub does not report the permissions of fine-grained tokens. */
function toProbes(rest: GithubRequests, repositories: readonly ForgeRepository[]): PermissionProbe[] {
  const [one] = repositories;
  if (one === undefined) return [];
  const read = (part: string) => () => rest.get(`${toRepositoryPath(one.fullName)}/${part}?per_page=1`);
  return [
    { permission: 'Pull requests: read and write', purpose: 'to list and merge pull requests', ask: read('pulls') },
    { permission: 'Issues: read and write', purpose: 'to list issues and send commands to bots', ask: read('issues') },
    toChecksProbe(rest, repositories),
    ...probeWebhookAccess(repositories, 'Webhooks: read and write, or admin:repo_hook', (fullName) =>
      rest.get(`${toRepositoryPath(fullName)}/hooks?per_page=1`),
    ),
  ];
}

/** The first repositories stand for all, as a query for more takes GitHub longer. */
const PROBED_REPOSITORIES = 10;

/** Reads data without errors only: GitHub reports missing access to checks as an error of a part. */
function toChecksProbe(requests: GithubRequests, repositories: readonly ForgeRepository[]): PermissionProbe {
  const ids = repositories.slice(0, PROBED_REPOSITORIES).map(({ id }) => id);
  return {
    permission: CHECKS_PERMISSION,
    purpose: 'to read the results of checks',
    ask: () => requests.graphqlWhole(PROBE_CHECKS, { ids }),
  };
}

const APP_PERMISSIONS = [
  ['contents', 'Contents: read and write', 'to merge'],
  ['pull_requests', 'Pull requests: read and write', 'to list and merge pull requests'],
  ['issues', 'Issues: read and write', 'to list issues and send commands to bots'],
  ['repository_hooks', 'Webhooks: read and write', 'to set up webhooks'],
] as const;

/** Finds the missing permissions of an App installation. GitHub reports them with the installation's token. */
async function inspectInstallation(
  installation: Installation,
  { requests, discover }: { readonly requests: GithubRequests; readonly discover: Discover },
): Promise<Inspection> {
  const repositories = await discover();
  const lacking = APP_PERMISSIONS.filter(([name]) => !installation.hasWriteAccess(name));
  const missing = lacking.map(([, permission, purpose]) => ({ permission, purpose }));
  return {
    repositories,
    missing: [...missing, ...(await findMissingPermissions([toChecksProbe(requests, repositories)]))],
  };
}

/** The events that webhooks subscribe to. */
export const GITHUB_EVENTS = [
  'check_run',
  'issue_comment',
  'issues',
  'merge_group',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'pull_request_review_thread',
  'push',
  'repository',
  'status',
];

const NEEDS =
  'an admin of the repository, with a token with the scope admin:repo_hook, or a token or App that can write webhooks';

/** Creates the webhook or edits the existing one, as GitHub rejects a second webhook with the same URL. */
async function ensureGithubWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toRepositoryPath(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret, insecure_ssl: '0' };
  const wanted = { active: true, events: GITHUB_EVENTS, config };
  const [found, ...others] = await listMatchingWebhooks(rest, place);
  await withPermissionError(rest, place, () =>
    found === undefined
      ? rest.send('POST', `${place.repository}/hooks`, { name: 'web', ...wanted })
      : rest.send('PATCH', `${place.repository}/hooks/${found.id}`, wanted),
  );
  await deleteWebhooks(rest, place, others);
}

/** The longest excerpt of a comment. */
const MAX_EXCERPT = 500;

interface Author {
  readonly author: { readonly login: string } | null;
}

interface CommentNode extends Author {
  readonly bodyText: string;
  readonly url: string;
  readonly createdAt: string;
}

interface ReviewNode extends Author {
  readonly state: string;
  readonly submittedAt: string | null;
}

type Nodes<T> = { readonly nodes: readonly (FieldError | T | null)[] | null } | FieldError | null;

interface DetailsNode {
  readonly additions: number;
  readonly deletions: number;
  readonly changedFiles: number;
  readonly commits: { readonly totalCount: number };
  readonly milestone: { readonly title: string } | null;
  readonly assignees: Nodes<{ readonly login: string }>;
  readonly reviewRequests: Nodes<{
    readonly asCodeOwner: boolean;
    readonly requestedReviewer: { readonly login?: string; readonly combinedSlug?: string } | null;
  }>;
  readonly baseRef: {
    readonly branchProtectionRule: RequiredReviews | null;
    readonly rules: Nodes<{ readonly parameters: RequiredReviews | null }>;
  } | null;
  readonly reviews: Nodes<ReviewNode>;
  readonly latestOpinionatedReviews: Nodes<ReviewNode>;
  readonly reviewThreads: Nodes<{
    readonly isResolved: boolean;
    readonly path: string;
    readonly line: number | null;
    readonly comments: Nodes<CommentNode>;
  }>;
  readonly comments: Nodes<CommentNode>;
}

interface RequiredReviews {
  readonly requiredApprovingReviewCount?: number | null;
}

interface DetailsData {
  readonly repository: { readonly pullRequest: DetailsNode | null } | null;
}

/** Reads the newest 50 reviews and earlier verdicts that still count, the unresolved ones of the newest 100 threads, and the newest 20 comments. */
async function readGithubDetails(
  requests: GithubRequests,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestDetails> {
  const { owner, name } = toOwnerAndName(fullName);
  const { repository } = (await requests.graphql(READ_DETAILS, { owner, name, number })) as DetailsData;
  const node = repository?.pullRequest;
  if (!node) throw new ForgeError('not_found');
  const { additions, deletions, changedFiles, commits, reviews, reviewThreads, comments } = node;
  const newest = nodesOf(reviews);
  // Each comment on a line is a review too, so that there can be many after an approval.
  const isEarlier = ({ submittedAt, author }: ReviewNode) =>
    !newest.some((one) => one.submittedAt === submittedAt && one.author?.login === author?.login);
  const verdicts = nodesOf(node.latestOpinionatedReviews).filter(isEarlier);
  const open = nodesOf(reviewThreads).filter(({ isResolved }) => !isResolved);
  return {
    ...{ additions, deletions, changedFiles, commits: commits.totalCount },
    ...toRules(node),
    // Pending reviews are visible to their author only.
    reviews: [...verdicts, ...newest].flatMap(({ author, state, submittedAt }) =>
      submittedAt === null
        ? []
        : [{ author: author?.login ?? 'ghost', state: state.toLowerCase() as ReviewState, submittedAt }],
    ),
    threads: open.flatMap(({ path, line, comments: of }) =>
      nodesOf(of).map((comment) => ({ ...toComment(comment), path, ...(line !== null && { line }) })),
    ),
    comments: nodesOf(comments).map(toComment),
  };
}

/** Branch protection and all rulesets apply, so the largest number counts. */
function toRules({ milestone, assignees, reviewRequests, baseRef }: DetailsNode): Partial<PullRequestDetails> {
  const owners = nodesOf(reviewRequests)
    .filter(({ asCodeOwner }) => asCodeOwner)
    .map(({ requestedReviewer }) => requestedReviewer?.login ?? requestedReviewer?.combinedSlug ?? '');
  const rules = [
    baseRef?.branchProtectionRule,
    ...nodesOf(baseRef?.rules ?? null).map(({ parameters }) => parameters),
  ].map((rule) => rule?.requiredApprovingReviewCount ?? 0);
  const requiredApprovals = Math.max(0, ...rules);
  return {
    ...(requiredApprovals > 0 && { requiredApprovals }),
    codeOwners: owners.filter((name) => name !== ''),
    assignees: nodesOf(assignees).map(({ login }) => login),
    ...(milestone && { milestone: milestone.title }),
  };
}

type ReviewState = PullRequestDetails['reviews'][number]['state'];

/** Returns the nodes that the credential has access to. */
function nodesOf<T>(list: Nodes<T>): T[] {
  return list === null || !('nodes' in list) ? [] : withoutNulls(list.nodes ?? []);
}

function toComment({ author, bodyText, url, createdAt }: CommentNode): PullRequestDetails['comments'][number] {
  return { author: author?.login ?? 'ghost', excerpt: bodyText.slice(0, MAX_EXCERPT), url, createdAt };
}
