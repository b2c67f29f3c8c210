import { createAuthenticator } from '../../src/accounts/authentication.js';
import { readPageData } from '../../src/handlers/page-data.js';
import { createPageDataReader } from '../../src/server/page-data.js';
import type { PageDataOptions } from '../../src/server/page-data.js';
import type { PageData } from '../../src/web/page-data.js';
import { ORIGIN } from '../contract/contract-server.js';
import { openStage } from '../contract/dashboard/fixtures.js';
import type { Stage } from '../contract/dashboard/fixtures.js';

const NOBODY = { session: null, theme: '', timezone: '' };

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.server.close());

function find(
  path: string,
  headers: { readonly cookie?: string; readonly authorization?: string },
  changed: Partial<PageDataOptions> = {},
): Promise<PageData | undefined> {
  const { database, accounts } = stage.server;
  const authenticate = createAuthenticator({ database, sessions: accounts.sessions, publicUrl: ORIGIN, tokens: [] });
  const findFacts = createPageDataReader({
    authenticate,
    read: readPageData(stage.server),
    hasDashboard: true,
    ...changed,
  });
  return findFacts({ method: 'GET', path, headers });
}

test('page data equals the responses that the page would have requested', async () => {
  const { person, cookie } = await stage.addUser();
  const client = stage.client({ cookie });
  await stage.client(stage.admin).PUT('/api/sharing/{username}', { params: { path: { username: person.username } } });
  await client.PUT('/api/settings/theme', { body: { theme: 'dark' } });
  await client.PUT('/api/settings/timezone', { body: { timezone: 'Europe/Berlin' } });
  await client.PUT('/api/settings/filter-state', { body: { pullRequests: { pill: 'failing' } } });
  await client.PUT('/api/views/{name}', { params: { path: { name: 'red' } }, body: { filter: { ci: ['failure'] } } });
  const facts = await find('/', { cookie });
  expect(facts).toEqual({
    session: (await client.GET('/api/auth/session')).data,
    theme: 'dark',
    timezone: 'Europe/Berlin',
    board: {
      filters: { pullRequests: { pill: 'failing' } },
      views: (await client.GET('/api/views')).data,
      sharedWithMe: [{ username: 'root', displayName: stage.admin.person.displayName }],
    },
  });
});

test.each([
  ['a page without a board', '/settings', {}],
  ['a server without the dashboard', '/', { hasDashboard: false }],
])('page data has no board on %s', async (_what, path, changed) => {
  const { person, cookie } = await stage.addUser();
  const { username, displayName, isAdmin } = person;
  const facts = await find(path, { cookie }, changed);
  expect(facts).toEqual({ ...NOBODY, session: { username, displayName, isAdmin } });
});

test.each([
  ['no cookie', {}],
  ['an ended session', { cookie: 'trellis_session=stale' }],
])('page data has no user for %s', async (_what, headers) => {
  await expect(find('/', headers)).resolves.toEqual(NOBODY);
});

test('page data depends on the session only, not on a token in the request', async () => {
  const { person, cookie } = await stage.addUser();
  const facts = await find('/settings', { cookie, authorization: 'Bearer trl_x' });
  expect(facts?.session?.username).toBe(person.username);
});

test.each([
  ['the database fails', () => Promise.reject(new Error('The database is unavailable.'))],
  ['the database does not respond', () => new Promise<PageData>(() => undefined)],
])('page data is absent while %s', async (_what, read) => {
  const { cookie } = await stage.addUser();
  await expect(find('/', { cookie }, { read })).resolves.toBeUndefined();
});
