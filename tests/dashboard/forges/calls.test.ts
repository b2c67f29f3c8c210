/**
 * Every call to a forge, beside the API that the forge publishes: the operation exists and is not deprecated, and its
 * query, its body and the answer of the test forge fit. `FORGE_CALLS=write` writes the table in docs/forge-calls.md.
 */
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { ActionName, Forge, ForgeName } from '../../../src/dashboard/forges/forge.js';
import { createAnonymousGithubForge } from '../../../src/dashboard/forges/github/anonymous-forge.js';
import { createInstallationForge } from '../../../src/dashboard/forges/github/github-forge.js';
import * as githubQueries from '../../../src/dashboard/forges/github/queries.js';
import * as gitlabQueries from '../../../src/dashboard/forges/gitlab/queries.js';
import { importFromTool } from '../../../tools/install.js';
import { type Call, CALLS, findCall } from '../../forges/calls.js';
import type { ForgeServer, RecordedRequest } from '../../forges/forge-server.js';
import { forgejoIssue, forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { createTestApp } from '../../forges/github-app.js';
import {
  githubIssue,
  githubPullRequest,
  type GithubRepository,
  githubRepository,
  githubRun,
} from '../../forges/github-state.js';
import { gitlabIssue, gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { GITLAB_TOKEN } from '../../forges/gitlab.js';
import { compareWithSchema, type PublishedApi, readDeclaredApi, readGithubApi } from '../../forges/published-apis.js';
import { openForgejo } from './forgejo/open-forgejo.js';
import { openGithub } from './github/open-github.js';
import { openGitlab } from './gitlab/open-gitlab.js';
import { agent } from './open-forge.js';

interface Exchange {
  readonly seen: RecordedRequest;
  readonly status: number;
  readonly body: unknown;
}

interface Round {
  readonly exchanges: Exchange[];
  /** The texts of the GraphQL queries. */
  readonly queries: ReadonlySet<string>;
}

const DOCUMENT = 'docs/forge-calls.md';
const hook = { url: 'https://trellis.example/api/webhooks/x', secret: 's', formerUrls: ['https://old.example/old'] };

let rounds: Readonly<Record<ForgeName, Round>>;
let apis: Readonly<Partial<Record<ForgeName, readonly PublishedApi[]>>>;

beforeAll(async () => {
  rounds = { github: await callGithub(), forgejo: await callForgejo(), gitlab: await callGitlab() };
  apis = {
    github: ['api.github.com', 'ghes-3.17', 'ghes-3.19'].map(readGithubApi),
    forgejo: [readDeclaredApi('gitea-js'), readDeclaredApi('forgejo-js')],
  };
}, 120_000);

const NAMES = ['github', 'forgejo', 'gitlab'] as const;
const PUBLISHED = ['github', 'forgejo'] as const;

function record(server: ForgeServer): Round {
  const exchanges: Exchange[] = [];
  const queries = new Set<string>();
  server.exchanged = (seen, { status, body }) => {
    if (seen.path.endsWith('/graphql')) queries.add((JSON.parse(seen.body) as { query: string }).query);
    // The storage of logs is no part of the forge's API.
    else if (!seen.path.startsWith('/log-storage/')) exchanges.push({ seen, status, body });
  };
  return { exchanges, queries };
}

/** Calls each operation of a client that only reads. */
async function read(forge: Forge, fullName: string): Promise<void> {
  const target = { fullName, number: 1 };
  const found = await forge.discover();
  await forge.read(found);
  await forge.readInvolved?.(new Set());
  await forge.readHistory?.(
    found.map(({ id, fullName: name }) => ({ id, fullName: name, since: 0 })),
    async () => undefined,
  );
  await forge.readRepository(fullName);
  await forge.readState(target);
  await forge.checks(target);
  await forge.details(target);
  await forge.inspect();
}

async function act(forge: Forge, actions: readonly (readonly [ActionName, number])[]): Promise<void> {
  for (const [action, number] of actions) await forge.act({ fullName: 'acme/shop', number }, action);
}

const EDIT = {
  reviewers: { add: ['lisa', 'acme/core'], remove: ['lisa'] },
  assignees: { add: ['lisa'], remove: ['mona'] },
  labels: { add: ['bug'], remove: ['bug'] },
};

/** Approves a pull request of someone else, and changes its reviewers, assignees and labels. */
async function reviewAndEdit(forge: Forge, number: number, edit: typeof EDIT): Promise<void> {
  const target = { fullName: 'acme/shop', number };
  await forge.act({ ...target, review: { verdict: 'approve', text: 'Nice.' } }, 'review');
  await forge.act({ ...target, edit }, 'edit');
}

async function callGithub(): Promise<Round> {
  const failed = githubRun({ conclusion: 'FAILURE', log: 'the end', steps: [{ name: 'test', conclusion: 'failure' }] });
  const many = Array.from({ length: 60 }, (_, index) => githubIssue(500 + index));
  const first = githubPullRequest(1, { checks: [failed], requested: ['lisa', 'team:core'] });
  const shop = githubRepository('acme/shop', {
    viewerPermission: 'ADMIN',
    issues: many,
    pullRequests: [
      first,
      githubPullRequest(2, { mergeStateStatus: 'BEHIND' }),
      githubPullRequest(3, { mergeStateStatus: 'BLOCKED' }),
      githubPullRequest(4, { autoMerge: 'MERGE' }),
      ...Array.from({ length: 59 }, (_, index) => githubPullRequest(5 + index)),
      githubPullRequest(64, { author: 'ada' }),
    ],
  });
  const queue = githubRepository('acme/queue', { usesMergeQueue: true, pullRequests: [githubPullRequest(1)] });
  const own = githubRepository('mona/tool', { pullRequests: [githubPullRequest(1)], issues: [githubIssue(7)] });
  const { server, forge } = await openGithub([shop, queue, own]);
  const round = record(server);
  await read(forge, 'acme/shop');
  await readAgain(forge, shop);
  const comment = await forge.act({ fullName: 'acme/shop', number: 5 }, 'dependabot_rebase');
  await forge.readReplies?.([typeof comment === 'string' ? '' : comment.commentId]);
  await act(forge, [
    ['rerun_checks', 1],
    ['update_branch', 2],
    ['auto_merge', 3],
    ['cancel_auto_merge', 4],
    ['renovate_rebase', 5],
    ['merge', 6],
    ['close', 7],
  ]);
  await reviewAndEdit(forge, 64, EDIT);
  for (const action of ['enqueue', 'dequeue'] as const) await forge.act({ fullName: 'acme/queue', number: 1 }, action);
  await setUpWebhook(forge, (url) => shop.hooks.push({ ...HOOK, id: 90, url }));
  const shared = { agent, record: async () => undefined };
  server.app = createTestApp();
  const app = { id: server.app.id, privateKey: server.app.privateKey, url: server.url };
  await createInstallationForge({ ...shared, app, installationId: server.app.installationId }).discover();
  await read(createAnonymousGithubForge({ ...shared, baseUrl: server.url, username: 'mona' }), 'mona/tool');
  await server.close();
  return round;
}

/** Calls the operations that follow a first reading. */
async function readAgain(forge: Forge, changed: GithubRepository): Promise<void> {
  const known = await forge.readRepository(changed.nameWithOwner);
  changed.pullRequests[0]!.updatedAt = new Date().toISOString();
  const found = await forge.discover();
  const rows = found.map(({ id }) => ({ id, pullRequests: id === changed.id ? known!.pullRequests : [] }));
  await forge.findOutdated?.(rows);
  await forge.readInvolved?.(new Set(), { known: rows });
}

const HOOK = { secret: 's', events: ['push'], contentType: 'json', active: true };

/** Creates the webhook, and corrects it while another has a former address. */
async function setUpWebhook(forge: Forge, addHook: (url: string) => void): Promise<void> {
  await forge.ensureWebhook('acme/shop', hook);
  addHook(hook.formerUrls[0] ?? '');
  await forge.ensureWebhook('acme/shop', hook);
}

async function callForgejo(): Promise<Round> {
  const job = { name: 'test', status: 'completed', conclusion: 'failure' };
  const comment = {
    id: 1,
    user: { id: 2, login: 'lisa' },
    body: 'Why?',
    html_url: 'https://forgejo.example/c/1',
    created_at: '2026-05-02T08:00:00Z',
    path: 'src/tax.ts',
    position: 3,
  };
  const created_at = '2026-05-02T09:00:00Z';
  const reviewer = { id: 2, login: 'lisa' };
  const timeline = [
    { id: 1, type: 'change_title', created_at, old_title: 'WIP: Change 1', new_title: 'Change 1' },
    { id: 2, type: 'review_request', created_at, assignee: reviewer, removed_assignee: false },
    { id: 3, type: 'review_request', created_at, assignee: null, assignee_team: { id: 4, name: 'core' } },
    { id: 5, type: 'review_request', created_at, assignee: reviewer, removed_assignee: true },
  ];
  const review = { login: 'lisa', state: 'COMMENT', submittedAt: created_at, comments: [comment] };
  const shop = forgejoRepository('acme/shop', {
    admin: true,
    labels: [
      { id: 3, name: 'rebase' },
      { id: 4, name: 'bug' },
    ],
    organizationLabels: [{ id: 5, name: 'triage' }],
    issues: [forgejoIssue(50)],
    pullRequests: [
      forgejoPullRequest(1, { jobs: [job], reviews: [review], timeline }),
      ...[2, 3, 4, 5].map((number) => forgejoPullRequest(number)),
      forgejoPullRequest(6, { author: 'ada' }),
    ],
  });
  const { server, forge } = await openForgejo([shop]);
  const round = record(server);
  await read(forge, 'acme/shop');
  server.reruns = true;
  await act(forge, [
    ['rerun_checks', 1],
    ['renovate_rebase', 3],
    ['merge', 4],
    ['close', 5],
  ]);
  Object.assign(shop.pullRequests[1]!, { baseSha: 'e'.repeat(40) });
  await act(forge, [['update_branch', 2]]);
  await reviewAndEdit(forge, 6, EDIT);
  await forge.act({ fullName: 'acme/shop', number: 6, edit: { labels: { add: ['triage'] } } }, 'edit');
  await setUpWebhook(forge, (url) => shop.hooks.push({ ...HOOK, id: 90, url }));
  await server.close();
  return round;
}

async function callGitlab(): Promise<Round> {
  const job = { id: 5, name: 'test', status: 'failed', duration: 3, failure_reason: 'script_failure' };
  const shop = gitlabProject('acme/shop', {
    adminProject: true,
    issues: Array.from({ length: 120 }, (_, index) => gitlabIssue(500 + index)),
    mergeRequests: [
      gitlabMergeRequest(1, { jobs: [job], pipeline: 'FAILED', assignees: ['mona'] }),
      gitlabMergeRequest(2, { divergedFromTargetBranch: true }),
      gitlabMergeRequest(3, { detailedMergeStatus: 'CI_STILL_RUNNING', pipeline: 'RUNNING' }),
      gitlabMergeRequest(4, { autoMergeEnabled: true, pipeline: 'RUNNING' }),
      ...Array.from({ length: 120 }, (_, index) => gitlabMergeRequest(5 + index)),
    ],
  });
  const { server, forge } = await openGitlab([shop]);
  const round = record(server);
  const known = await forge.discover();
  shop.fullPath = 'acme/store';
  await forge.read(known);
  shop.fullPath = 'acme/shop';
  await read(forge, 'acme/shop');
  await act(forge, [
    ['rerun_checks', 1],
    ['update_branch', 2],
    ['auto_merge', 3],
    ['cancel_auto_merge', 4],
    ['renovate_rebase', 5],
    ['merge', 6],
    ['close', 7],
  ]);
  await forge.act({ fullName: 'acme/shop', number: 8, review: { verdict: 'approve' } }, 'review');
  await reviewAndEdit(forge, 8, { ...EDIT, reviewers: { add: ['lisa'], remove: ['ada'] } });
  await setUpWebhook(forge, (url) => shop.hooks.push({ ...HOOK, id: 90, url }));
  // Reading the hooks is refused as if they did not exist, so that the project is read.
  server.failNext({ status: 404, body: { message: '404 Not found' } }, { path: /\/hooks$/ });
  await forge.ensureWebhook('acme/shop', hook).catch(() => undefined);
  await server.close();
  return round;
}

test.each(NAMES)('calls of %s: all that are listed are sent, and no other', (name) => {
  const sent = new Set<Call | string>(
    rounds[name].exchanges.map(({ seen }) => {
      return findCall(name, seen.method, seen.path) ?? `${seen.method} ${seen.path}`;
    }),
  );
  expect([...sent].filter((one) => typeof one === 'string')).toEqual([]);
  expect(CALLS[name].filter((call) => !sent.has(call))).toEqual([]);
});

test.each([
  ['github', githubQueries],
  ['gitlab', gitlabQueries],
] as const)('calls of %s: all GraphQL queries are sent', (name, module) => {
  const documents = Object.values<Record<string, string> | string>(module).flatMap((one) =>
    typeof one === 'string' ? [one] : Object.values(one),
  );
  expect(documents.filter((text) => !rounds[name].queries.has(text))).toEqual([]);
});

test.each(PUBLISHED)('calls of %s: fit the published APIs', (name) => {
  const problems = (apis[name] ?? []).flatMap((api) =>
    rounds[name].exchanges.flatMap((exchange) => findProblems(name, api, exchange)),
  );
  expect([...new Set(problems)]).toEqual([]);
});

function findProblems(name: ForgeName, api: PublishedApi, { seen, status, body }: Exchange): string[] {
  const [method = '', template = ''] = findCall(name, seen.method, seen.path) ?? [];
  const operation = api.find(method, template);
  if (operation === undefined) return isNewer(api, template) ? [] : [`${api.name}: no ${method} ${template}`];
  const prefix = `${api.name}: ${method} ${template}`;
  const query = [...seen.query.keys()].filter((one) => operation.query[one] === undefined);
  const json = seen.body === '' ? undefined : (JSON.parse(seen.body) as unknown);
  const { resolve } = api;
  const request =
    json === undefined || operation.body === undefined
      ? []
      : compareWithSchema(json, operation.body, { resolve, isPart: false });
  const schema = operation.responseOf(status);
  const answer = schema === undefined ? [] : compareWithSchema(body, schema, { resolve, isPart: true });
  return [
    ...(operation.isDeprecated ? ['is deprecated'] : []),
    ...query.map((one) => `query ${one} is unknown`),
    ...(json !== undefined && operation.body === undefined ? ['has no body'] : []),
    ...request.map((one) => `request ${one}`),
    ...(operation.statuses?.has(status) === false ? [`has no status ${status}`] : []),
    ...answer.map((one) => `answer ${status} ${one.replaceAll(/\/\d+/g, '/n')}`),
  ].map((problem) => `${prefix} ${problem}`);
}

/** Operations that only some servers have. The client treats 404 as an answer. */
const isNewer = (api: PublishedApi, template: string): boolean =>
  /^(Forgejo|Gitea)/.test(api.name) && template.includes('/actions/runs');

/** The parts of gitbeaker, GitLab's client for Node.js, that send the same calls. */
interface Gitbeaker {
  readonly MergeRequests: Record<'cancelOnPipelineSuccess' | 'edit' | 'merge' | 'rebase' | 'show', Send>;
  readonly MergeRequestApprovals: Record<'approve' | 'showConfiguration', Send>;
  readonly MergeRequestNotes: Record<'create', Send>;
  readonly MergeRequestDiscussions: Record<'all', Send>;
  readonly Commits: Record<'allStatuses', Send>;
  readonly Jobs: Record<'all', Send>;
  readonly Pipelines: Record<'retry', Send>;
  readonly PersonalAccessTokens: Record<'show', Send>;
  readonly ProjectHooks: Record<'add' | 'all' | 'remove', Send>;
  readonly Projects: Record<'show', Send>;
  readonly Users: Record<'all' | 'showCurrentUser', Send>;
}
type Send = (...args: readonly unknown[]) => Promise<unknown>;

test('calls of gitlab: the same as those of gitbeaker, which the test GitLab answers', async () => {
  const { Gitlab } = (await importFromTool('tools/witnesses', '@gitbeaker/rest')) as {
    Gitlab: new (options: object) => Gitbeaker;
  };
  const merge = gitlabMergeRequest(1, { pipeline: 'FAILED' });
  const waiting = gitlabMergeRequest(2, { autoMergeEnabled: true });
  const shop = gitlabProject('acme/shop', { adminProject: true, mergeRequests: [merge, waiting] });
  const { server } = await openGitlab([shop]);
  const client = new Gitlab({ host: server.url, oauthToken: GITLAB_TOKEN });
  const name = 'acme/shop';
  await client.Users.showCurrentUser();
  await client.PersonalAccessTokens.show({ tokenId: 'self' });
  await client.Projects.show(name);
  await client.MergeRequests.show(name, 1);
  await client.MergeRequestDiscussions.all(name, 1);
  await client.Jobs.all(name, { pipelineId: 1 });
  await client.Commits.allStatuses(name, merge.diffHeadSha);
  await client.Pipelines.retry(name, 1);
  await client.MergeRequests.cancelOnPipelineSuccess(name, 2);
  await client.MergeRequests.rebase(name, 2);
  await client.Users.all({ username: 'lisa' });
  await client.MergeRequestApprovals.approve(name, 1, { sha: merge.diffHeadSha });
  await client.MergeRequestApprovals.showConfiguration(name, { mergerequestIId: 1 });
  await client.MergeRequestNotes.create(name, 1, 'Nice.');
  await client.MergeRequests.edit(name, 2, { stateEvent: 'close' });
  await client.MergeRequests.merge(name, 1, { sha: merge.diffHeadSha });
  await client.ProjectHooks.add(name, hook.url, { token: 's', pushEvents: true });
  await client.ProjectHooks.all(name);
  await client.ProjectHooks.remove(name, 1);
  await server.close();
  const sent = new Set(server.seen.map(({ method, path }) => findCall('gitlab', method, path)));
  expect(sent).toEqual(new Set(CALLS.gitlab));
  expect([merge.state, waiting.state, shop.hooks]).toEqual(['merged', 'closed', []]);
  expect([merge.approvedBy, merge.notes]).toMatchObject([['mona'], [{ body: 'Nice.' }]]);
});

test('the documentation lists the calls', async () => {
  const table = await format(toDocument(), { ...(await resolveConfig(DOCUMENT)), parser: 'markdown' });
  if (process.env.FORGE_CALLS === 'write') await writeFile(DOCUMENT, table);
  await expect(readFile(DOCUMENT, 'utf8')).resolves.toBe(table);
});

const PRODUCTS = { github: 'GitHub', forgejo: 'Forgejo and Gitea', gitlab: 'GitLab' } as const;

function toDocument(): string {
  const witness = readJson('tools/witnesses/package.json') as { devDependencies: Record<string, string> };
  const versionOf = (name: string): string => `\`${name}\` ${witness.devDependencies[name]}`;
  const clients = `${versionOf('gitea-js')} and ${versionOf('forgejo-js')}`;
  const github = readJson('tools/github-description/package.json') as typeof witness;
  const openapi = `\`@octokit/openapi\` ${github.devDependencies['@octokit/openapi']}`;
  const sources = {
    github: `The documents are those of ${openapi}, the schema is that of ${versionOf('@octokit/graphql-schema')}.`,
    forgejo: `The documents are those from which ${clients} are generated. A server that is too old for the operations on workflow runs responds with 404; then commit statuses are shown.`,
    gitlab: `${versionOf('@gitbeaker/rest')} sends the same REST calls. None of the packages has GitLab's GraphQL schema, so the queries are only validated against the part of it in \`tests/forges/gitlab-schema.ts\`.`,
  };
  return [
    '# Calls to forges',
    'Trellis sends these calls to forges; a test in which it sends a different one fails. The tests send each of them to test servers, and compare it with the API that the forge publishes: path, method, query, body, and the members of the response. They also check that the operation is not deprecated. This file is generated by `tests/dashboard/forges/calls.test.ts`; the environment variable `FORGE_CALLS=write` writes it.',
    ...NAMES.flatMap((name) => [
      `## ${PRODUCTS[name]}`,
      sources[name],
      toTable(
        ['REST call', 'Purpose', 'Published in'],
        CALLS[name].map((call) => toRow(name, call)),
      ),
      ...(name === 'forgejo' ? [] : [toTable(['GraphQL query', 'Kind'], listQueries(name))]),
    ]),
    'GitLab before 17.11 knows auto-merge only by the parameter `merge_when_pipeline_succeeds`, which is deprecated since. Trellis sends it beside `auto_merge`. No operation and no GraphQL field that Trellis uses is deprecated.',
    '',
  ].join('\n\n');
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

function toRow(name: ForgeName, [method, template, purpose]: Call): string[] {
  const having = (apis[name] ?? []).filter((api) => api.find(method, template) !== undefined);
  const published =
    name === 'gitlab' ? 'gitbeaker' : having.map((api) => api.name.replace(/ 23\.0\.2$/, '')).join(', ');
  return [`\`${method} ${template}\``, purpose, published === '' ? 'newer servers only' : published];
}

function listQueries(name: 'github' | 'gitlab'): string[][] {
  const found = [...rounds[name].queries].map((text) => /\b(query|mutation) (\w+)/.exec(text));
  return found.map((match) => [`\`${match?.[2] ?? ''}\``, match?.[1] ?? '']).sort();
}

const toTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
