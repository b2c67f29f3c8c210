import { readFileSync } from 'node:fs';
import {
  findMention,
  mentions,
  readGithubText,
  readGitlabText,
} from '../../../src/dashboard/notifications/mentions.js';
import { installTool } from '../../../tools/install.js';

test.each([
  ['@mona, please look', true],
  ['please look, @Mona.', true],
  ['(@mona)', true],
  ['@mona-lisa', false],
  ['@monalisa', false],
  ['@mona.lisa', false],
  ['Thanks @mona.', true],
  ['Ask @mona...', true],
  ['write to lisa@mona', false],
  ['acme/@mona', false],
  ['`@mona`', false],
  ['```\n@mona\n```\n', false],
  ['> @mona said\n\nno', false],
  ['> @lisa said\n\n@mona?', true],
  ['Bump @mona/parser to 2.1', false],
  ['<!-- cc @mona\n\nif unsure -->\nFix a typo', false],
  ['<!-- one --> @mona <!-- two -->', true],
  ['<!-- @mona', false],
  ['``@mona` ``', false],
  ['Use `a`, @mona, or `b`', true],
  ['1. Run\n\n   ```js\n   @mona\n   ```\n', false],
  ['- ```js\n  @mona\n  ```\n', false],
  ['- ```js\n  x\n  ```\n\n@mona', true],
  ['````md\n```\n@mona\n```\n@mona\n````\n', false],
  ['~~~\r\n```\r\n@mona\r\n~~~\r\n', false],
  ['```\r\nx\r\n```\r\n@mona', true],
  ['```x``` @mona', true],
  ['```\n@mona', false],
  ['', false],
])('mentions: %j', (text, expected) => {
  expect(mentions(text, 'mona')).toBe(expected);
});

test.each([
  ['line breaks', '\n'],
  ['fences', '```a\n'],
  ['comments', '<!--'],
  ['quotations', '> '],
  ['backticks', '` `` ``` '],
])('mentions: a long text of %s takes no long time', (_of, part) => {
  const text = part.repeat(Math.ceil(200_000 / part.length));
  const start = performance.now();
  expect(mentions(`@lisa\n${text}`, 'mona')).toBe(false);
  expect(performance.now() - start).toBeLessThan(1_000);
});

installTool('tools/witnesses');

const EXAMPLES = 'tools/witnesses/node_modules/@octokit/webhooks-examples/api.github.com/index.json';

interface Example {
  readonly name: string;
  readonly payload: Record<string, unknown>;
}

/** The payloads that GitHub publishes, by event. */
const published = (
  JSON.parse(readFileSync(EXAMPLES, 'utf8')) as { name: string; examples: Example['payload'][] }[]
).flatMap(({ name, examples }): Example[] => examples.map((payload) => ({ name, payload })));

test("readGithubText: reads the texts of GitHub's published payloads, and nothing else", () => {
  const found = new Map<string, string>();
  for (const { name, payload } of published) {
    const text = readGithubText(payload);
    if (text !== undefined) found.set(`${name} ${String(payload.action)}`, text.url);
  }
  expect(published.length).toBeGreaterThan(200);
  expect(Object.fromEntries(found)).toEqual({
    'pull_request opened': expect.stringMatching(/\/pull\/\d+$/) as string,
    'pull_request_review_comment created': expect.stringMatching(/\/pull\/\d+#discussion_r\d+$/) as string,
  });
});

test.each([
  ['issue_comment', 'created', { issue: { number: 1, title: 'x', pull_request: {} } }],
  ['pull_request_review', 'submitted', { review: { body: 'Ask @mona', html_url: 'https://github.com/a/b/pull/1#r' } }],
])('readGithubText: a published %s has a text if it is about a pull request and not empty', (name, action, change) => {
  const { payload } = published.find((one) => one.name === name && one.payload.action === action)!;
  expect(readGithubText(payload)).toBeUndefined();
  expect(readGithubText({ ...payload, ...change })).toMatchObject({
    pullRequest: { title: expect.any(String) as string },
  });
});

test('readGithubText: a published comment mentions the user after an edit of its text', () => {
  const { payload } = published.find(({ name, payload: { action } }) => {
    return name === 'pull_request_review_comment' && action === 'created';
  })!;
  const edited = { ...payload, comment: { ...(payload.comment as object), body: 'Ask @mona' } };
  const place = { forge: 'github', repo: 'Codertocat/Hello-World', username: 'Mona' } as const;
  expect(findMention(readGithubText(edited)!, place)).toMatchObject({
    event: { kind: 'mentioned', number: 2, author: 'Codertocat', title: expect.any(String) as string },
  });
  expect(findMention(readGithubText(payload)!, place)).toBeUndefined();
  expect(findMention(readGithubText(edited)!, { ...place, username: 'codertocat' })).toBeUndefined();
});

test('readGitlabText: reads notes of merge requests, and descriptions of new ones', () => {
  const note = {
    object_kind: 'note',
    user: { username: 'lisa' },
    object_attributes: {
      note: 'Ask @mona',
      noteable_type: 'MergeRequest',
      url: 'https://gitlab.com/a/b/-/merge_requests/1#note_5',
    },
    merge_request: { iid: 1, title: 'Round taxes' },
  };
  expect(readGitlabText(note)).toMatchObject({ text: 'Ask @mona', author: 'lisa', pullRequest: { number: 1 } });
  const opened = {
    object_kind: 'merge_request',
    user: { username: 'lisa' },
    object_attributes: {
      action: 'open',
      iid: 2,
      title: 'T',
      description: 'D',
      url: 'https://gitlab.com/a/b/-/merge_requests/2',
    },
  };
  expect(readGitlabText(opened)).toMatchObject({ text: 'D', pullRequest: { number: 2, title: 'T' } });
  expect(readGitlabText({ ...note, merge_request: undefined })).toBeUndefined();
});

test('readGithubText: reads the review of a delivery of Gitea, which has neither an author nor a link', () => {
  // The members of `PullRequestPayload` in code.gitea.io/gitea/modules/structs/hook.go.
  const url = 'https://gitea.example/acme/shop/pulls/12';
  const payload = {
    action: 'reviewed',
    number: 12,
    pull_request: { number: 12, title: 'Fix bug', html_url: url, updated_at: '2026-05-02T08:00:00Z', body: 'fixes #2' },
    requested_reviewer: null,
    repository: { full_name: 'acme/shop' },
    sender: { login: 'lisa' },
    review: { type: 'pull_request_review_comment', content: 'Ask @mona' },
  };
  const text = readGithubText(payload);
  expect(text).toMatchObject({ text: 'Ask @mona', author: 'lisa', url, pullRequest: { number: 12, title: 'Fix bug' } });
  const later = { ...payload, pull_request: { ...payload.pull_request, updated_at: '2026-05-02T09:00:00Z' } };
  expect(readGithubText(later)?.id).not.toBe(text?.id);
  expect(readGithubText({ ...payload, review: { type: 'pull_request_review_approved', content: '' } })).toBeUndefined();
});

test.each([
  [null],
  [{}],
  [{ action: 'reviewed', review: {} }],
  [[]],
  [{ action: 'created', comment: 7 }],
  [{ action: 'opened', pull_request: { body: {} } }],
])('the texts of payloads: %j has none', (payload) => {
  expect([readGithubText(payload), readGitlabText(payload)]).toEqual([undefined, undefined]);
});

test('readGithubText: ignores links that are not of the web', () => {
  const comment = { html_url: 'javascript:alert(1)', body: '@mona', user: { login: 'x' } };
  expect(readGithubText({ action: 'created', comment, pull_request: { number: 1 } })).toBeUndefined();
});
