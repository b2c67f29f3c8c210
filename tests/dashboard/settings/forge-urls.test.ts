import { saveState } from '../../../src/dashboard/pull-requests/state-entries.js';
import { NO_FORGES } from '../../../src/dashboard/settings/settings-rows.js';
import { findForgesWithNewUrl } from '../../../src/dashboard/settings/settings.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { startForgejo } from '../../forges/forgejo.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { openStage, type Stage } from '../refresh/fixtures.js';
import { settingsFor } from '../refresh/forges.js';

test.each([
  ['no URL is set', {}, {}, []],
  ['the default URL of GitHub is set explicitly', {}, { githubUrl: 'https://github.com' }, []],
  ['GitHub is replaced by a GitHub Enterprise server', {}, { githubUrl: 'https://git.example' }, ['github']],
  ['a first URL is set', {}, { forgejoUrl: 'https://a.example', gitlabUrl: 'https://b.example' }, []],
  ['the URL stays the same', { forgejoUrl: 'https://a.example' }, { forgejoUrl: 'https://a.example' }, []],
  ['the URL of a forge changes', { forgejoUrl: 'https://a.example' }, { forgejoUrl: 'https://b.example' }, ['forgejo']],
  ['the URL of a forge is removed', { gitlabUrl: 'https://a.example' }, {}, ['gitlab']],
])('findForgesWithNewUrl: returns the moved forges when %s', (_reason, before, after, moved) => {
  expect(findForgesWithNewUrl({ ...NO_FORGES, ...before }, { ...NO_FORGES, ...after })).toEqual(moved);
});

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  stage.forgejo.repositories.push(forgejoRepository('acme/depot', { pullRequests: [forgejoPullRequest(1)] }));
  await stage.refresh();
});
afterEach(() => stage.close());

const TABLES = ['forge_readings', 'forge_states', 'repository_marks', 'pull_request_marks', 'snoozes'] as const;

const forgesIn = async (table: (typeof TABLES)[number]) => {
  const rows = await stage.database.selectFrom(table).select('forge').orderBy('forge').execute();
  return [...new Set(rows.map(({ forge }) => forge))];
};

test('saving settings: deletes the data of a forge whose URL changed, and keeps that of the others', async () => {
  const { dashboard, ada, database } = stage;
  for (const on of [
    { forge: 'github', fullName: 'acme/shop' },
    { forge: 'forgejo', fullName: 'acme/depot' },
  ] as const) {
    await dashboard.repositories.enableAutoUpdate(ada, on);
    await saveState(database, { personId: ada.personId, ...on, number: 1 }, { kind: 'auto_merge', state: {} });
    await dashboard.snoozes.save(ada, { ...on, number: 1, until: undefined, untilChange: true });
  }
  expect(await Promise.all(TABLES.map(forgesIn))).toEqual([
    ['forgejo', 'github'],
    ['forgejo', 'github', 'gitlab'],
    ['forgejo', 'github'],
    ['forgejo', 'github'],
    ['forgejo', 'github'],
  ]);
  const other = await startForgejo();
  // Rules out that the following refresh deletes the data.
  await dashboard.refresher.close();
  await dashboard.settings.save(ada, { ...settingsFor(stage), forgejoUrl: other.url });
  expect(await Promise.all(TABLES.map(forgesIn))).toEqual([
    ['github'],
    ['github', 'gitlab'],
    ['github'],
    ['github'],
    ['github'],
  ]);
  const { pullRequests, repos } = await dashboard.boards.read(ada, { includeDrafts: true, includeSnoozed: true });
  expect([pullRequests, repos].map((rows) => rows.map(({ forge }) => forge))).toEqual([['github'], ['github']]);
  await other.close();
});

test('a board is empty after all its forges were removed', async () => {
  const { dashboard, ada } = stage;
  await dashboard.refresher.close();
  await dashboard.settings.save(ada, { githubToken: null, forgejoToken: null, gitlabToken: null });
  expect(await stage.board()).toMatchObject({ pullRequests: [], repos: [], forges: [] });
});
