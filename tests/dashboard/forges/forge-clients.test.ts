import { createForgeClients, type ForgeClients } from '../../../src/dashboard/forges/forge-clients.js';
import { toGithubApiUrl } from '../../../src/dashboard/forges/github/requests.js';
import type { NewRequestLogEntry } from '../../../src/dashboard/request-log.js';
import { NO_FORGES, type ForgeSettings } from '../../../src/dashboard/settings/settings-rows.js';
import { LOOPBACK, type ForgeServer } from '../../forges/forge-server.js';
import { forgejoRepository } from '../../forges/forgejo-state.js';
import { FORGEJO_TOKEN, startForgejo } from '../../forges/forgejo.js';
import { createTestApp } from '../../forges/github-app.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { gitlabProject } from '../../forges/gitlab-state.js';
import { GITLAB_TOKEN, startGitlab } from '../../forges/gitlab.js';

let servers: ForgeServer[];
let all: ForgeSettings;
let saved: Map<string, ForgeSettings>;
let recorded: NewRequestLogEntry[];
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

test('forge clients: open every forge with a credential in the settings', async () => {
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
  ['one token is missing', { forgejoToken: '' }, ['github', 'gitlab']],
  ['all credentials are missing', { githubToken: '', forgejoToken: '', gitlabToken: '', githubUsername: '' }, []],
])('forge clients: omit forges without a credential when %s', async (_reason, change, names) => {
  saved.set('ada', { ...all, ...change });
  expect([...(await clients.of('ada')).keys()]).toEqual(names);
});

test('forge clients: prefer the GitHub App to a token, and a token to the username', async () => {
  const app = createTestApp();
  const { url } = servers[0]!;
  const settings = { findForges: (personId: string) => Promise.resolve(saved.get(personId)) };
  const record = async (request: NewRequestLogEntry): Promise<void> => void recorded.push(request);
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
  // Tokens that the App signs are never sent to a different server.
  expect(await endpointsOf(elsewhere, {})).toEqual(['/graphql']);
  expect(await endpointsOf(opened, { githubAppInstallationId: 0 })).toEqual(['/graphql']);
  const byName = { githubToken: '', githubAppInstallationId: 0, githubUsername: 'acme' };
  expect(await endpointsOf(opened, byName)).toEqual(['/users/acme/repos', '/search/issues', '/search/issues']);
});

test('forge clients: are empty for a user without settings', async () => {
  expect((await clients.of('bob')).size).toBe(0);
});

test('forge clients: each is reused until its own settings change or forget is called', async () => {
  const opened = [await clients.of('ada'), await clients.of('ada')];
  saved.set('ada', { ...all, githubToken: 'another' });
  opened.push(await clients.of('ada'));
  clients.forget('ada');
  opened.push(await clients.of('ada'));
  const firstUses = (name: 'forgejo' | 'github'): number[] => {
    const found = opened.map((forges) => forges.get(name));
    return found.map((forge) => found.indexOf(forge));
  };
  expect([firstUses('github'), firstUses('forgejo')]).toEqual([
    [0, 0, 2, 3],
    [0, 0, 0, 3],
  ]);
});

test('forge clients: do not share cached responses between users', async () => {
  saved.set('eve', { ...all, forgejoToken: 'wrong' });
  const [ada, eve] = [await clients.of('ada'), await clients.of('eve')];
  await expect(ada.get('forgejo')?.discover()).resolves.toHaveLength(1);
  await expect(eve.get('forgejo')?.discover()).rejects.toMatchObject({ kind: 'unauthorized' });
});

test('forge clients: send requests even if the request log cannot be written', async () => {
  const settings = { findForges: () => Promise.resolve(all) };
  const record = () => Promise.reject(new Error('The disk is full.'));
  const unlogged = createForgeClients({ settings, record, allow: LOOPBACK });
  await expect((await unlogged.of('ada')).get('gitlab')?.discover()).resolves.toHaveLength(1);
});

test.each([
  ['', 'https://api.github.com'],
  ['https://github.com', 'https://api.github.com'],
  ['https://acme.ghe.com', 'https://api.acme.ghe.com'],
  ['https://github.acme.example', 'https://github.acme.example/api/v3'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/api/v3'],
])('toGithubApiUrl: converts %j to %s', (url, api) => {
  expect(toGithubApiUrl(url)).toBe(api);
});
