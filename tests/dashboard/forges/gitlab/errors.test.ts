import { openGitlab, type OpenGitlab } from './open-gitlab.js';

let gitlab: OpenGitlab;

beforeEach(async () => {
  gitlab = await openGitlab();
});
afterEach(() => gitlab.server.close());

test('GitLab client: throws unknown for a GraphQL error', async () => {
  gitlab.server.failNext({ body: { data: null, errors: [{ message: 'Query has complexity of 300.' }] } });
  await expect(gitlab.forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind: 'unknown' });
});

test('GitLab client: pauses until the rate limit resets after 429 without Retry-After', async () => {
  const reset = Math.ceil(Date.now() / 1000) + 600;
  const headers = { 'RateLimit-Limit': '2000', 'RateLimit-Remaining': '0', 'RateLimit-Reset': String(reset) };
  gitlab.server.failNext({ status: 429, headers, body: {} });
  await expect(gitlab.forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt: reset * 1000 });
});

test('GitLab client: reports the API quota and logs the request', async () => {
  const { forge, recorded } = gitlab;
  await forge.discover();
  expect(forge.quotas.graphql).toMatchObject({ limit: 2000, remaining: 1999 });
  const asked = { forge: 'gitlab', method: 'POST', endpoint: '/graphql', account: 'mona', statusCode: 200 };
  expect(recorded).toMatchObject([{ ...asked, outcome: 'success', rateLimit: { remaining: 1999 } }]);
});
