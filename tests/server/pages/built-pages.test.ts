import { readFileSync } from 'node:fs';
import { createPageDataReader, listPreloadTags } from '@trellis/server/pages/built-pages';
import { createAuthenticator } from '../../../src/accounts/authentication.js';
import { readPageData } from '../../../src/handlers/page-data.js';
import { BOARD_PATHS, PAGE_MODULES } from '../../../src/startup/page-paths.js';
import type { PageData } from '../../../src/web/page-data.js';
import { ORIGIN } from '../../contract/contract-server.js';
import { openStage, type Stage } from '../../contract/dashboard/fixtures.js';

const NOBODY = { session: null, theme: '', timezone: '' };

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.server.close());

interface FindOptions {
  readonly boardPaths?: readonly string[];
  readonly read?: () => Promise<PageData>;
}

function find(
  path: string,
  headers: { readonly cookie?: string; readonly authorization?: string },
  { boardPaths = BOARD_PATHS, read }: FindOptions = {},
): Promise<PageData | undefined> {
  const { database, accounts } = stage.server;
  const authenticate = createAuthenticator({ database, sessions: accounts.sessions, publicUrl: ORIGIN, tokens: [] });
  const findFacts = createPageDataReader({
    authenticate,
    read: read ?? readPageData(stage.server, boardPaths),
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
  ['a server without the dashboard', '/', { boardPaths: [] }],
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

const MANIFEST = {
  'index.html': { file: 'assets/index.js', imports: ['_shell.js'], css: ['assets/index.css'] },
  '_shell.js': { file: 'assets/shell.js' },
  '_board.js': { file: 'assets/board.js', imports: ['index.html'], css: ['assets/board.css'] },
  'board.tsx': { file: 'assets/page.js', imports: ['index.html', '_board.js'], css: ['assets/board.css'] },
};

test('preload tags list each file of a page once, without the files of every page', () => {
  expect(listPreloadTags(MANIFEST, 'board.tsx', '/pages/').match(/rel="\w+"|href="[^"]*"/g)).toEqual([
    ...['rel="modulepreload"', 'href="/pages/assets/page.js"', 'rel="modulepreload"', 'href="/pages/assets/board.js"'],
    ...['rel="stylesheet"', 'href="/pages/assets/board.css"'],
  ]);
});

test('preload tags are empty for a page that the manifest lacks', () => {
  expect(listPreloadTags(MANIFEST, 'gone.tsx', '/pages/')).toBe('');
});

test.each(Object.entries(PAGE_MODULES))('PAGE_MODULES: %s has the module of its route', (path, module) => {
  const routes = readFileSync(new URL('../../../src/web/app/routes.ts', import.meta.url), 'utf8');
  const route = routes.split('  {\n').find((text) => text.includes(`'${path}'`) && text.includes('import('));
  expect(route).toContain(`import('./${module.replace(/\.tsx$/, '.js')}')`);
});
