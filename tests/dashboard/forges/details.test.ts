import type { Forge } from '../../../src/dashboard/forges/forge.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openForgejo } from './forgejo/open-forgejo.js';
import { openGithub } from './github/open-github.js';
import { openGitlab } from './gitlab/open-gitlab.js';

const target = { fullName: 'acme/shop', number: 1 };
const at = '2026-05-02T09:00:00Z';

let close: (() => Promise<void>) | undefined;
afterEach(async () => close?.());

async function read({ forge, server }: { forge: Forge; server: { close(): Promise<void> } }) {
  close = () => server.close();
  return forge.details(target);
}

test('details of GitHub: lists submitted reviews, unresolved threads and comments', async () => {
  const thread = { path: 'src/tax.ts', line: 41, author: 'lisa', text: 'Is this rounded twice?' };
  const one = githubPullRequest(1, {
    additions: 120,
    deletions: 8,
    changedFiles: 4,
    submitted: [
      { author: 'lisa', state: 'CHANGES_REQUESTED', submittedAt: at },
      { author: null, state: 'APPROVED', submittedAt: at },
      { author: 'mona', state: 'PENDING', submittedAt: null },
    ],
    threads: [
      { ...thread, isResolved: false },
      { ...thread, isResolved: true, text: 'A typo.' },
      { ...thread, isResolved: false, line: null, text: 'x'.repeat(600) },
    ],
    replies: ['Rebased.'],
    ...{ requested: ['hubot', 'team:core'], codeOwners: ['team:core'], assignees: ['mona'], milestone: '2.0' },
  });
  const repository = githubRepository('acme/shop', { pullRequests: [one], requiredApprovals: [1, 2] });
  const opened = await openGithub([repository]);
  const url = expect.stringContaining('/acme/shop/pull/1#') as string;
  await expect(read(opened)).resolves.toEqual({
    ...{ additions: 120, deletions: 8, changedFiles: 4, commits: 1 },
    ...{ requiredApprovals: 2, codeOwners: ['acme/core'], assignees: ['mona'], milestone: '2.0' },
    reviews: [
      { author: 'lisa', state: 'changes_requested', submittedAt: at },
      { author: 'ghost', state: 'approved', submittedAt: at },
    ],
    threads: [
      { author: 'lisa', excerpt: 'Is this rounded twice?', path: 'src/tax.ts', line: 41, url, createdAt: at },
      { author: 'lisa', excerpt: 'x'.repeat(500), path: 'src/tax.ts', url, createdAt: at },
    ],
    comments: [{ author: 'dependabot', excerpt: 'Rebased.', url, createdAt: at }],
  });
});

test('details of GitHub: lists an approval before more than 50 comments on lines', async () => {
  const comment = { author: 'hubot', state: 'COMMENTED', submittedAt: at };
  const submitted = Array.from({ length: 60 }, () => comment);
  const one = githubPullRequest(1, { reviews: ['APPROVED'], submitted });
  const opened = await openGithub([githubRepository('acme/shop', { pullRequests: [one] })]);
  const { reviews } = await read(opened);
  expect([reviews.length, reviews[0]]).toMatchObject([51, { author: 'reviewer-1', state: 'approved' }]);
  one.submitted = [{ author: 'reviewer-1', state: 'APPROVED', submittedAt: '2026-05-01T08:00:00Z' }];
  expect((await read(opened)).reviews).toHaveLength(1);
});

test('details: shortens a comment at the end of a character', async () => {
  const one = githubPullRequest(1, { replies: [`${'x'.repeat(499)}🎉`] });
  const { comments } = await read(await openGithub([githubRepository('acme/shop', { pullRequests: [one] })]));
  expect(comments).toMatchObject([{ excerpt: 'x'.repeat(499) }]);
});

test('details of GitLab: lists approvals, review states, unresolved discussions and comments', async () => {
  const note = { author: { username: 'lisa' }, created_at: at, system: false };
  const one = gitlabMergeRequest(1, {
    approvedBy: ['hubot'],
    reviewers: ['hubot', 'lisa'],
    reviewStates: { hubot: 'APPROVED', lisa: 'REQUESTED_CHANGES' },
    discussions: [
      { notes: [{ ...note, id: 1, body: 'added 1 commit', system: true, resolvable: false }] },
      { notes: [{ ...note, id: 2, body: 'Nice.', resolvable: false }] },
      {
        notes: [
          {
            ...{ ...note, id: 3, body: 'Why?', resolvable: true, resolved: false },
            position: { new_path: 'src/tax.ts', new_line: 41 },
          },
          { ...note, id: 4, body: 'Because.', resolvable: true, resolved: false },
        ],
      },
      { notes: [{ ...note, id: 5, body: 'Done.', resolvable: true, resolved: true }] },
    ],
  });
  const opened = await openGitlab([gitlabProject('acme/shop', { mergeRequests: [one] })]);
  const { threads, comments, reviews, ...size } = await read(opened);
  expect(size).toEqual({ additions: 12, deletions: 3, changedFiles: 1, commits: 1 });
  expect(reviews).toEqual([
    { author: 'lisa', state: 'changes_requested' },
    { author: 'hubot', state: 'approved' },
  ]);
  const url = expect.stringMatching(/\/acme\/shop\/-\/merge_requests\/1#note_3$/) as string;
  expect(threads).toEqual([{ author: 'lisa', excerpt: 'Why?', path: 'src/tax.ts', line: 41, url, createdAt: at }]);
  expect(comments).toMatchObject([{ excerpt: 'Nice.' }]);
});

test('details of GitLab: lists a discussion after hundreds of events', async () => {
  const note = { author: { username: 'lisa' }, created_at: at, resolvable: false };
  const events = Array.from({ length: 450 }, (_none, index) => ({
    notes: [{ ...note, id: index, body: 'added 1 commit', system: true }],
  }));
  const thread = { notes: [{ ...note, id: 900, body: 'Why?', system: false, resolvable: true, resolved: false }] };
  const one = gitlabMergeRequest(1, { discussions: [...events, thread] });
  const opened = await openGitlab([gitlabProject('acme/shop', { mergeRequests: [one] })]);
  expect((await read(opened)).threads).toMatchObject([{ excerpt: 'Why?' }]);
});

test('details of Forgejo: lists reviews, the first unresolved comment of each line, and comments', async () => {
  const link = 'https://code.example/acme/shop/pulls/1';
  const said = { user: { login: 'lisa' }, html_url: `${link}#c1`, created_at: at, path: 'src/tax.ts' };
  const one = forgejoPullRequest(1, {
    reviews: [
      { login: 'lisa', state: 'REQUEST_REVIEW' },
      {
        ...{ login: 'lisa', state: 'REQUEST_CHANGES', submittedAt: at },
        comments: [
          { ...said, body: 'Why?', position: 41, resolver: null },
          { ...said, body: 'And here.', position: 41, resolver: null },
          { ...said, body: 'Done.', position: 50, resolver: { login: 'mona' } },
        ],
      },
      { login: 'hubot', state: 'APPROVED', dismissed: true, submittedAt: at },
    ],
    comments: [{ ...said, body: 'Nice.' }],
    assignees: ['lisa'],
  });
  const opened = await openForgejo([forgejoRepository('acme/shop', { pullRequests: [one] })]);
  const { threads, comments, reviews, ...size } = await read(opened);
  expect(size).toEqual({ additions: 12, deletions: 3, changedFiles: 1, assignees: ['lisa'] });
  expect(reviews).toEqual([
    { author: 'lisa', state: 'changes_requested', submittedAt: at },
    { author: 'hubot', state: 'dismissed', submittedAt: at },
  ]);
  expect(threads).toEqual([
    { author: 'lisa', excerpt: 'Why?', path: 'src/tax.ts', line: 41, url: `${link}#c1`, createdAt: at },
  ]);
  expect(comments).toEqual([{ author: 'lisa', excerpt: 'Nice.', url: `${link}#c1`, createdAt: at }]);
});

test.each([
  ['GitHub', openGithub],
  ['GitLab', openGitlab],
  ['Forgejo', openForgejo],
])('details of %s: an unknown pull request is reported as not found', async (_name, open) => {
  const { forge, server } = await open([]);
  close = () => server.close();
  await expect(forge.details(target)).rejects.toMatchObject({ kind: 'not_found' });
});
