import { NO_FORGES } from '../../../src/dashboard/forge-settings.js';
import type { ForgeSettings } from '../../../src/dashboard/forge-settings.js';
import { toGithubApiUrl } from '../../../src/dashboard/forges/github/api-url.js';
import { createForgeClients } from '../../../src/dashboard/forges/open-forges.js';
import type { ForgeClients } from '../../../src/dashboard/forges/open-forges.js';
import type { NewRequest } from '../../../src/dashboard/request-log.js';
import { createTestApp } from '../../forges/github-app.js';
import { FORGEJO_TOKEN, startForgejo } from '../../forges/forgejo.js';
import { forgejoRepository } from '../../forges/forgejo-state.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import type { ForgeServer } from '../../forges/forge-server.js';
import { GITHUB_TOKEN, startGithub } from '../../forges/github.js';
import type { TestGithub } from '../../forges/github.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITLAB_TOKEN, startGitlab } from '../../forges/gitlab.js';
import { gitlabProject } from '../../forges/gitlab-state.js';

let servers: ForgeServer[];
let all: ForgeSettings;
let saved: Map<string, ForgeSettings>;
let recorded: NewRequest[];
let clients: ForgeClients;

beforeEach(async () => {
  const repository = githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] });
  const github = await startGithub([repository]);
  const forgejo = await startForgejo([forgejoRepository('acme/shop')]);
  const gitlab = await startGitlab([gitlabProject('acme/shop')]);
  servers = [github, forgejo, gitlab];
  all = {
    ...NO_FORGES,
    githubUrl: github.url,
    githubUsername: 'mona',
    githubToken: GITHUB_TOKEN,
    forgejoUrl: forgejo.url,
    forgejoToken: FORGEJO_TOKEN,
    gitlabUrl: gitlab.url,
    gitlabToken: GITLAB_TOKEN,
  };
  saved = new Map([['ada', all]]);
  recorded = [];
  clients = createForgeClients({
    settings: { findForges: (personId) => Promise.resolve(saved.get(personId)) },
    record: async (request) => void recorded.push(request),
    allow: LOOPBACK,
  });
});
afterEach(async () => {
  for (const server of servers) await server.close();
});

test('opens every forge that the settings have a credential for, by GraphQL and REST', async () => {
  const forges = await clients.of('ada');
  expect([...forges.keys()]).toEqual(['github', 'forgejo', 'gitlab']);
  for (const forge of forges.values()) {
    expect(await forge.discover()).toMatchObject([{ fullName: 'acme/shop' }]);
  }
  await expect(forges.get('github')?.act({ fullName: 'acme/shop', number: 1 }, 'close')).resolves.toBe('done');
  expect(new Set(recorded.map(({ account, forge }) => `${account} at ${forge}`))).toEqual(
    new Set(['mona at github', 'undefined at forgejo', 'undefined at gitlab']),
  );
});

test.each<[string, Partial<ForgeSettings>, string[]]>([
  ['a token is missing', { forgejoToken: '' }, ['github', 'gitlab']],
  ['all are', { githubToken: '', forgejoToken: '', gitlabToken: '', githubUsername: '' }, []],
])('leaves out a forge of which %s', async (_reason, change, names) => {
  saved.set('ada', { ...all, ...change });
  expect([...(await clients.of('ada')).keys()]).toEqual(names);
});

test('reads GitHub by the App before a token, by a token before the name, and by the name alone', async () => {
  const app = createTestApp();
  const { url } = servers[0]!;
  const settings = { findForges: (personId: string) => Promise.resolve(saved.get(personId)) };
  const record = async (request: NewRequest): Promise<void> => void recorded.push(request);
  const opened = createForgeClients({ settings, record, app: { ...app, url } });
  const elsewhere = createForgeClients({
    settings,
    record,
    app: { ...app, url: 'http://127.0.0.1:9' },
    allow: LOOPBACK,
  });
  (servers[0] as TestGithub).app = app;
  const endpointsOf = async (clientsOf: ForgeClients, change: Partial<ForgeSettings>) => {
    saved.set('ada', { ...all, githubAppInstallationId: app.installationId, ...change });
    recorded.length = 0;
    await (await clientsOf.of('ada')).get('github')?.discover();
    return recorded.map(({ endpoint }) => endpoint);
  };
  const exchange = `/app/installations/${app.installationId}/access_tokens`;
  expect(await endpointsOf(opened, {})).toEqual([exchange, '/installation/repositories', '/graphql']);
  // Whoever names a server of their own is not shown what the App signs.
  expect(await endpointsOf(elsewhere, {})).toEqual(['/graphql']);
  expect(await endpointsOf(opened, { githubAppInstallationId: 0 })).toEqual(['/graphql']);
  const byName = { githubToken: '', githubAppInstallationId: 0, githubUsername: 'acme' };
  expect(await endpointsOf(opened, byName)).toEqual(['/users/acme/repos', '/search/issues', '/search/issues']);
});

test('has no forges for a person who never saved any', async () => {
  expect((await clients.of('bob')).size).toBe(0);
});

test('keeps what it opened until the settings are others, or it is to forget', async () => {
  const opened = [await clients.of('ada'), await clients.of('ada')];
  saved.set('ada', { ...all, githubToken: 'another' });
  opened.push(await clients.of('ada'));
  clients.forget('ada');
  opened.push(await clients.of('ada'));
  expect(opened.map((forges) => opened.indexOf(forges))).toEqual([0, 0, 2, 3]);
});

test('gives nobody what another was answered', async () => {
  saved.set('eve', { ...all, forgejoToken: 'wrong' });
  const [ada, eve] = [await clients.of('ada'), await clients.of('eve')];
  await expect(ada.get('forgejo')?.discover()).resolves.toHaveLength(1);
  await expect(eve.get('forgejo')?.discover()).rejects.toMatchObject({ kind: 'unauthorized' });
});

test('asks a forge even when the log can not be written', async () => {
  const settings = { findForges: () => Promise.resolve(all) };
  const record = () => Promise.reject(new Error('The disk is full.'));
  const deaf = createForgeClients({ settings, record, allow: LOOPBACK });
  await expect((await deaf.of('ada')).get('gitlab')?.discover()).resolves.toHaveLength(1);
});

test.each([
  ['', 'https://api.github.com'],
  ['https://github.com', 'https://api.github.com'],
  ['https://acme.ghe.com', 'https://api.acme.ghe.com'],
  ['https://github.acme.example', 'https://github.acme.example/api/v3'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/api/v3'],
])('finds the API of GitHub at %j below %s', (url, api) => {
  expect(toGithubApiUrl(url)).toBe(api);
});
