import type { Answer, Seen } from './forge-server.js';
import { findRepository } from './github-graphql.js';
import type { GithubPullRequest, GithubRepository, GithubRun } from './github-state.js';

const refuse = (status: number, message: string): Answer => ({ status, body: { message, documentation_url: '' } });
const NOT_FOUND = refuse(404, 'Not Found');

interface Found {
  readonly seen: Seen;
  readonly repository: GithubRepository;
  /** The number or id in the path. */
  readonly id: number;
}

type Route = readonly [method: string, path: RegExp, answer: (found: Found) => Answer];

const ROUTES: readonly Route[] = [
  ['GET', /^\/actions\/jobs\/(\d+)$/, ofJob(({ steps, name }) => ({ body: { name, steps } }))],
  ['GET', /^\/actions\/jobs\/(\d+)\/logs$/, ofJob(({ log }) => ({ body: log }))],
  ['POST', /^\/actions\/runs\/(\d+)\/rerun-failed-jobs$/, rerun],
  ['PUT', /^\/pulls\/(\d+)\/merge$/, ofPullRequest(merge)],
  ['PUT', /^\/pulls\/(\d+)\/update-branch$/, ofPullRequest(updateBranch)],
  ['PATCH', /^\/pulls\/(\d+)$/, ofPullRequest(close)],
  ['POST', /^\/issues\/(\d+)\/comments$/, ofPullRequest(comment)],
  ['POST', /^\/issues\/(\d+)\/labels$/, ofPullRequest(label)],
];

/** Answers what is below `/repos`. */
export function answerRest(seen: Seen, repositories: readonly GithubRepository[]): Answer {
  const [, fullName = '', path = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)$/.exec(seen.path) ?? [];
  const repository = findRepository(repositories, fullName);
  if (!repository) return NOT_FOUND;
  if (repository.nameWithOwner !== fullName) {
    const headers = { Location: `/repos/${repository.nameWithOwner}${path}` };
    return { status: seen.method === 'GET' ? 301 : 307, headers, body: { message: 'Moved Permanently' } };
  }
  for (const [method, pattern, answer] of ROUTES) {
    const [matched, id] = pattern.exec(path) ?? [];
    if (matched !== undefined && method === seen.method) return answer({ seen, repository, id: Number(id) });
  }
  return NOT_FOUND;
}

function ofPullRequest(answer: (one: GithubPullRequest, body: Record<string, unknown>, found: Found) => Answer) {
  return (found: Found): Answer => {
    const one = found.repository.pullRequests.find(({ number }) => number === found.id);
    return one ? answer(one, JSON.parse(found.seen.body) as Record<string, unknown>, found) : NOT_FOUND;
  };
}

function ofJob(answer: (run: GithubRun) => Answer) {
  return ({ repository, id }: Found): Answer => {
    const run = listRuns(repository).find(({ databaseId }) => databaseId === id);
    return run ? answer(run) : NOT_FOUND;
  };
}

function listRuns({ pullRequests }: GithubRepository): GithubRun[] {
  return pullRequests.flatMap(({ checks }) => checks).filter((check) => check.kind === 'run');
}

function rerun({ repository, id }: Found): Answer {
  const failed = listRuns(repository).filter((run) => run.workflowRun === id && run.conclusion !== 'SUCCESS');
  if (failed.length === 0) return refuse(403, 'This workflow run cannot be retried');
  for (const run of failed) Object.assign(run, { status: 'QUEUED', conclusion: null });
  return { status: 201, body: {} };
}

function merge(one: GithubPullRequest, { merge_method, sha }: Record<string, unknown>, found: Found): Answer {
  const { mergeCommitAllowed, squashMergeAllowed, rebaseMergeAllowed, requiresLinearHistory } = found.repository;
  const allowed: Record<string, boolean> = {
    merge: mergeCommitAllowed && !requiresLinearHistory,
    squash: squashMergeAllowed,
    rebase: rebaseMergeAllowed,
  };
  if (one.state !== 'OPEN') return refuse(405, 'Pull Request is not mergeable');
  if (sha !== one.headRefOid) return refuse(409, 'Head branch was modified. Review and try the merge again.');
  if (!allowed[String(merge_method)]) return refuse(405, `${String(merge_method)} is not allowed on this repository.`);
  if (!['CLEAN', 'HAS_HOOKS', 'UNSTABLE'].includes(one.mergeStateStatus)) {
    return refuse(405, 'Pull Request is not mergeable');
  }
  Object.assign(one, { state: 'MERGED', mergedBy: merge_method });
  return { body: { merged: true, sha, message: 'Pull Request successfully merged' } };
}

function updateBranch(one: GithubPullRequest, { expected_head_sha }: Record<string, unknown>): Answer {
  if (expected_head_sha !== one.headRefOid) return refuse(422, 'expected head sha didn’t match current head ref.');
  if (one.mergeable === 'CONFLICTING') return refuse(422, 'merge conflict between base and head');
  if (one.mergeStateStatus !== 'BEHIND') return refuse(422, 'There are no new commits on the base branch.');
  Object.assign(one, { headRefOid: 'f'.repeat(40), mergeStateStatus: 'CLEAN' });
  return { status: 202, body: { message: 'Updating pull request branch.', url: '' } };
}

function close(one: GithubPullRequest, { state }: Record<string, unknown>): Answer {
  if (state !== 'closed') return refuse(422, 'Validation Failed');
  one.state = 'CLOSED';
  return { body: { number: one.number, state } };
}

function comment(one: GithubPullRequest, { body }: Record<string, unknown>): Answer {
  one.comments.push(String(body));
  return { status: 201, body: { id: one.comments.length, body } };
}

function label(one: GithubPullRequest, { labels }: Record<string, unknown>): Answer {
  for (const name of labels as string[]) one.labels.push({ name, color: 'ededed' });
  return { body: one.labels };
}
