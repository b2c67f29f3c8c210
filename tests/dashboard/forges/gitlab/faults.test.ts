import { openGitlab } from './open-gitlab.js';
import type { OpenGitlab } from './open-gitlab.js';

let gitlab: OpenGitlab;

beforeEach(async () => {
  gitlab = await openGitlab();
});
afterEach(() => gitlab.server.close());

test('takes an error of GraphQL for one of the forge', async () => {
  gitlab.server.failNext({ body: { data: null, errors: [{ message: 'Query has complexity of 300.' }] } });
  await expect(gitlab.forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind: 'unknown' });
});

test('waits for the reset of the limit when it is not said how long', async () => {
  const reset = Math.ceil(Date.now() / 1000) + 600;
  const headers = { 'RateLimit-Limit': '2000', 'RateLimit-Remaining': '0', 'RateLimit-Reset': String(reset) };
  gitlab.server.failNext({ status: 429, headers, body: {} });
  await expect(gitlab.forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt: reset * 1000 });
});

test('says what is left of the budget, and tells the log what was asked', async () => {
  const { forge, recorded } = gitlab;
  await forge.discover();
  expect(forge.budgets.graphql).toMatchObject({ limit: 2000, remaining: 1999 });
  const asked = { forge: 'gitlab', method: 'POST', endpoint: '/graphql', account: 'mona', statusCode: 200 };
  expect(recorded).toMatchObject([{ ...asked, outcome: 'success', rateLimit: { remaining: 1999 } }]);
});
