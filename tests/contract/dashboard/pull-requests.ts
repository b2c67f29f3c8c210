import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import type { operations } from '../../../src/generated/dashboard/types.js';
import type { TestResponse as ForgeAnswer, RecordedRequest } from '../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { FORGEJO_TOKEN, startForgejo, type TestForgejo } from '../../forges/forgejo.js';
import { githubPullRequest, githubRepository, githubRun, type GithubPullRequest } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { GITLAB_TOKEN, startGitlab, type TestGitlab } from '../../forges/gitlab.js';
import { documented } from '../contract.js';
import type { RequestChange, Member, Stage } from './fixtures.js';

type Id = keyof operations;

interface Case {
  readonly id: Id;
  readonly forge: ForgeName;
  /** The state in which the action is allowed. */
  readonly before?: Partial<GithubPullRequest>;
  readonly status?: 202 | 204;
  /** Whether the base branch has a merge queue. */
  readonly inQueue?: boolean;
  /** The rest of the body. */
  readonly input?: object;
}

const blocked = { mergeStateStatus: 'BLOCKED' };
const behind = { mergeStateStatus: 'BEHIND' };

const ACTIONS: readonly Case[] = [
  { id: 'mergePullRequest', forge: 'github' },
  { id: 'autoMergePullRequest', forge: 'github', before: blocked },
  { id: 'cancelAutoMerge', forge: 'gitlab' },
  { id: 'cancelAutoMerge', forge: 'github', before: { ...blocked, autoMerge: 'MERGE' } },
  { id: 'enqueuePullRequest', forge: 'github', inQueue: true },
  { id: 'dequeuePullRequest', forge: 'github', before: { queued: true }, inQueue: true },
  { id: 'closePullRequest', forge: 'github' },
  { id: 'rerunChecks', forge: 'github', before: { checks: [githubRun({ conclusion: 'FAILURE' })] } },
  { id: 'updateBranch', forge: 'github', before: behind, status: 202 },
  { id: 'updateBranch', forge: 'forgejo' },
  { id: 'requestDependabot', forge: 'github', before: { author: 'dependabot' } },
  { id: 'requestRenovateRebase', forge: 'github', before: { author: 'renovate' } },
  { id: 'reviewPullRequest', forge: 'github', before: { author: 'lisa' }, input: { verdict: 'approve' } },
  { id: 'reviewPullRequest', forge: 'forgejo', input: { verdict: 'comment', text: 'Why?' } },
  { id: 'reviewPullRequest', forge: 'gitlab', input: { verdict: 'approve', text: 'Nice.' } },
  { id: 'editPullRequest', forge: 'github', input: { reviewers: { add: ['lisa'] }, labels: { add: ['bug'] } } },
  { id: 'editPullRequest', forge: 'forgejo', input: { assignees: { add: ['lisa'] } } },
  { id: 'editPullRequest', forge: 'gitlab', input: { assignees: { add: ['lisa'] }, reviewers: { add: ['ada'] } } },
];

export function pullRequestsTests(stage: () => Stage): void {
  let github: TestGithub;
  let forgejo: TestForgejo;
  let gitlab: TestGitlab;
  let member: Member;
  let count = 0;

  beforeAll(async () => {
    [github, forgejo, gitlab] = await Promise.all([startGithub(), startForgejo(), startGitlab()]);
    member = await stage().addUser();
    const body = {
      ...{ githubUrl: github.url, githubToken: GITHUB_TOKEN },
      ...{ forgejoUrl: forgejo.url, forgejoToken: FORGEJO_TOKEN },
      ...{ gitlabUrl: gitlab.url, gitlabToken: GITLAB_TOKEN },
    };
    await stage().client(member).PUT('/api/settings', { body });
  });
  afterAll(() => Promise.all([github, forgejo, gitlab].map((forge) => forge.close())));

  /** Adds a repository with one pull request to every forge. */
  function addRepository(before: Partial<GithubPullRequest> = {}, usesMergeQueue = false) {
    const fullName = `acme/app-${(count += 1)}`;
    const one = githubPullRequest(1, structuredClone(before));
    github.repositories.push(githubRepository(fullName, { pullRequests: [one], usesMergeQueue }));
    const old = forgejoPullRequest(1, { mergeBase: 'a'.repeat(40) });
    forgejo.repositories.push(forgejoRepository(fullName, { pullRequests: [old] }));
    const running = gitlabMergeRequest(1, { autoMergeEnabled: true, detailedMergeStatus: 'CI_STILL_RUNNING' });
    gitlab.projects.push(gitlabProject(fullName, { id: 1_000 + count, mergeRequests: [running] }));
    return { fullName, one, old, running };
  }
  const send = async (id: Id, body: object, change?: RequestChange) => {
    const operation = documented.find((one) => one.id === id)!;
    const extra = id === 'requestDependabot' ? { action: 'rebase' } : {};
    const text = JSON.stringify({ ...extra, ...body });
    const { response, error } = await stage().send(operation, member, { text, ...change });
    return [response.status, error?.code];
  };
  /** Makes all requests for this repository fail, but not those for others. */
  const failAt = (forge: ForgeName, fullName: string, answer: ForgeAnswer) => {
    const name = new RegExp(`${fullName.split('/')[1]!}\\b`);
    const isAffected = ({ path, body }: RecordedRequest) => name.test(path + body);
    ({ github, forgejo, gitlab })[forge].failNext((seen) => (isAffected(seen) ? answer : undefined), {
      times: Infinity,
    });
  };

  describe.each(ACTIONS)('$id at $forge', ({ id, forge, before, status = 204, inQueue, input }) => {
    test('succeeds', async () => {
      const { fullName } = addRepository(before, inQueue);
      expect(await send(id, { forge, fullName, number: 1, ...input })).toEqual([status, undefined]);
    });

    test('returns 404 for an unknown pull request', async () => {
      const { fullName } = addRepository();
      expect(await send(id, { forge, fullName, number: 99, ...input })).toEqual([404, 'unknown']);
    });

    test('returns 409 for a merged pull request', async () => {
      const { fullName, one, old, running } = addRepository(before, inQueue);
      one.state = 'MERGED';
      Object.assign(old, { merged: true, state: 'closed' });
      running.state = 'merged';
      expect(await send(id, { forge, fullName, number: 1, ...input })).toEqual([409, 'already_merged']);
    });

    test('returns 502 if the forge does not respond', async () => {
      const { fullName } = addRepository(before, inQueue);
      failAt(forge, fullName, { status: 502, body: '<html>' });
      expect(await send(id, { forge, fullName, number: 1, ...input })).toEqual([502, 'unknown']);
    });

    test('returns 403 if the forge rejects the credential', async () => {
      const { fullName } = addRepository(before, inQueue);
      failAt(forge, fullName, { status: 401, body: {} });
      expect(await send(id, { forge, fullName, number: 1, ...input })).toEqual([403, 'permission']);
    });
  });

  test('requestDependabot: returns the first response for a repeated idempotency key, and is sent once', async () => {
    const { fullName, one } = addRepository({ author: 'dependabot' });
    const body = { forge: 'github', fullName, number: 1 };
    const headers = { 'Idempotency-Key': 'click-1' };
    for (let times = 0; times < 3; times += 1) {
      expect(await send('requestDependabot', body, { headers })).toEqual([204, undefined]);
    }
    expect(one.comments).toHaveLength(1);
    expect(await send('requestDependabot', body, { headers: { 'Idempotency-Key': 'click-2' } })).toEqual([
      409,
      'in_progress',
    ]);
  });

  test.each<[string, Id, object]>([
    ['a comment without a text', 'reviewPullRequest', { forge: 'github', verdict: 'comment' }],
    [
      'a request for changes at GitLab',
      'reviewPullRequest',
      { forge: 'gitlab', verdict: 'request_changes', text: 'No' },
    ],
    ['a blank text', 'reviewPullRequest', { forge: 'github', verdict: 'approve', text: ' ' }],
    ['an edit that changes nothing', 'editPullRequest', { forge: 'github' }],
    ['a team at GitLab', 'editPullRequest', { forge: 'gitlab', reviewers: { add: ['acme/core'] } }],
    ['a label with a comma at GitLab', 'editPullRequest', { forge: 'gitlab', labels: { add: ['a,b'] } }],
  ])('%s is invalid input', async (_case, id, body) => {
    const { fullName } = addRepository();
    expect(await send(id, { ...body, fullName, number: 1 })).toEqual([400, 'invalid_input']);
  });

  test("mergePullRequest: reports a rejection as a code and in the forge's own words", async () => {
    const { fullName } = addRepository({}, true);
    const body = { forge: 'github' as const, fullName, number: 1, method: 'squash' as const };
    const { error, response } = await stage().client(member).POST('/api/pull-requests/merge', { body });
    expect([response.status, error]).toMatchObject([
      409,
      { code: 'merge_queue', forgeMessage: 'Changes must be made through the merge queue' },
    ]);
  });

  test('mergePullRequest: reports a rate limit of the forge with its end', async () => {
    const { fullName } = addRepository();
    failAt('gitlab', fullName, { status: 429, headers: { 'Retry-After': '60' }, body: {} });
    const body = { forge: 'gitlab' as const, fullName, number: 1 };
    const { error, response } = await stage().client(member).POST('/api/pull-requests/merge', { body });
    expect([response.status, error?.code]).toEqual([429, 'rate_limited']);
    expect(error).toHaveProperty('resetsAt');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  describe('listChecks', () => {
    const list = async (fullName: string, number = 1) => {
      const query = { forge: 'github' as const, fullName, number };
      const { data, error, response } = await stage()
        .client(member)
        .GET('/api/pull-requests/checks', { params: { query } });
      return { status: response.status, code: error?.code, checks: data?.checks };
    };

    test('returns the checks of the newest commit', async () => {
      const { fullName } = addRepository();
      expect(await list(fullName)).toMatchObject({ status: 200, checks: [{ name: 'build', state: 'success' }] });
    });

    test('returns 404 for an unknown pull request', async () => {
      expect(await list(addRepository().fullName, 99)).toMatchObject({ status: 404, code: 'not_found' });
    });

    test('returns 502 if the forge does not respond', async () => {
      const { fullName } = addRepository();
      failAt('github', fullName, { status: 500, body: '' });
      expect(await list(fullName)).toMatchObject({ status: 502, code: 'bad_gateway' });
    });
  });

  describe('readPullRequestDetails', () => {
    const read = async (fullName: string, number = 1) => {
      const query = { forge: 'github' as const, fullName, number };
      const { data, error, response } = await stage()
        .client(member)
        .GET('/api/pull-requests/details', { params: { query } });
      return { status: response.status, code: error?.code, data };
    };

    test('returns size, reviews, unresolved threads and comments', async () => {
      const { fullName } = addRepository();
      const { status, data } = await read(fullName);
      expect(status).toBe(200);
      expect(data).toEqual({
        ...{ additions: 12, deletions: 3, changedFiles: 1, commits: 1 },
        ...{ codeOwners: [], assignees: [], reviews: [], threads: [], comments: [] },
      });
    });

    test('returns 404 for an unknown pull request', async () => {
      expect(await read(addRepository().fullName, 99)).toMatchObject({ status: 404, code: 'not_found' });
    });

    test('returns 502 if the forge does not respond', async () => {
      const { fullName } = addRepository();
      failAt('github', fullName, { status: 500, body: '' });
      expect(await read(fullName)).toMatchObject({ status: 502, code: 'bad_gateway' });
    });
  });
}
