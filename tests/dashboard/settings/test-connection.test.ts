import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { components } from '../../../src/generated/dashboard/types.js';
import { CLOSED_PORT } from '../../closed-port.js';
import { forgejoRepository } from '../../forges/forgejo-state.js';
import { FORGEJO_TOKEN, startForgejo, type TestForgejo } from '../../forges/forgejo.js';
import { githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { gitlabProject } from '../../forges/gitlab-state.js';
import { GITLAB_TOKEN, startGitlab, type TestGitlab } from '../../forges/gitlab.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

type Forge = components['schemas']['ForgeName'];
type Settings = components['schemas']['SettingsRequest'];

let dashboard: TestDashboard;
let github: TestGithub;
let forgejo: TestForgejo;
let gitlab: TestGitlab;

beforeEach(async () => {
  dashboard = await openDashboard();
  github = await startGithub([githubRepository('acme/shop', { viewerPermission: 'ADMIN' })]);
  forgejo = await startForgejo([forgejoRepository('acme/shop', { admin: true })]);
  gitlab = await startGitlab([gitlabProject('acme/shop', { adminProject: true })]);
});
afterEach(async () => {
  await dashboard.database.destroy();
  await Promise.all([github.close(), forgejo.close(), gitlab.close()]);
});

const SETTINGS: Readonly<Record<Forge, () => Settings>> = {
  github: () => ({ githubUrl: github.url, githubToken: GITHUB_TOKEN }),
  forgejo: () => ({ forgejoUrl: forgejo.url, forgejoToken: FORGEJO_TOKEN }),
  gitlab: () => ({ gitlabUrl: gitlab.url, gitlabToken: GITLAB_TOKEN }),
};
const FORGES = Object.keys(SETTINGS) as Forge[];

const tryForge = (forge: Forge, settings: Settings = SETTINGS[forge]()) =>
  dashboard.testForgeConnection(dashboard.ada, { forge, settings });
const refused = { status: 403, body: { message: 'Resource not accessible by personal access token' } };

test.each(FORGES)('testForge on %s: returns the username and the number of repositories', async (forge) => {
  expect(await tryForge(forge)).toEqual({ forge, works: true, username: 'mona', repoCount: 1, missing: [] });
});

test('testForge: does not save the tested settings', async () => {
  await tryForge('forgejo');
  expect(await dashboard.settings.findForges(dashboard.ada.personId)).toMatchObject({
    forgejoUrl: '',
    forgejoToken: '',
  });
});

test.each(FORGES)('testForge on %s: reports a wrong token', async (forge) => {
  const settings = { ...SETTINGS[forge](), [`${forge}Token`]: 'wrong' };
  const { error, ...found } = await tryForge(forge, settings);
  expect(found).toEqual({ forge, works: false, missing: [], errorKind: 'unauthorized' });
  expect(error).toContain('The token was rejected.');
});

test.each(FORGES)('testForge on %s: reports an unreachable address', async (forge) => {
  const settings = { ...SETTINGS[forge](), [`${forge}Url`]: 'http://127.0.0.1:9' };
  expect(await tryForge(forge, settings)).toMatchObject({ works: false, errorKind: 'unreachable' });
});

test.each(FORGES)('testForge on %s: sends no request to a private address, and names the setting', async (forge) => {
  const strict = await openDashboard({ forgeAllow: [] });
  const request = { forge, settings: SETTINGS[forge]() };
  const closed = { forge, settings: { ...SETTINGS[forge](), [`${forge}Url`]: CLOSED_PORT } };
  const [found, alike] = [
    await strict.testForgeConnection(strict.ada, request),
    await strict.testForgeConnection(strict.ada, closed),
  ];
  expect(found).toMatchObject({ works: false, errorKind: 'address_refused' });
  expect(found.error).toContain('An administrator can allow it with TRELLIS_FORGE_ALLOW.');
  expect(alike).toEqual(found);
  expect([github, forgejo, gitlab].map(({ connections }) => connections())).toEqual([0, 0, 0]);
  await strict.database.destroy();
});

test.each(FORGES)(
  'testForge on %s: names the server to which an address redirects, without the token',
  async (forge) => {
    const moved = { github, forgejo, gitlab }[forge];
    const redirect = createServer(({ url }, response) => {
      response.writeHead(308, { Location: `${moved.url}${url}` }).end();
    }).listen(0, '127.0.0.1');
    await once(redirect, 'listening');
    const { port } = redirect.address() as AddressInfo;
    const found = await tryForge(forge, { ...SETTINGS[forge](), [`${forge}Url`]: `http://127.0.0.1:${port}` });
    redirect.close();
    expect(found).toMatchObject({ works: false });
    expect(found.error).toContain(`This address redirects to ${moved.url}, to which the token is not sent.`);
    expect(moved.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  },
);

test('testForge: names the fault of a certificate, and the setting for a private authority', async () => {
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=git'];
  // Key and certificate in one text.
  const pem = execFileSync('openssl', ['req', ...options, '-keyout', '-', '-out', '-'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [key, cert] = [pem, pem];
  const server = createTlsServer({ key, cert }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const forgejoUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = await tryForge('forgejo', { forgejoUrl, forgejoToken: 'x' });
  server.close();
  expect(found).toMatchObject({ works: false, errorKind: 'unreachable' });
  expect(found.error).toMatch(/^The certificate .* \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .* NODE_EXTRA_CA_CERTS\.$/);
});

test('testForge: reports a server of a different kind', async () => {
  const settings = { forgejoUrl: gitlab.url, forgejoToken: 'x' };
  gitlab.failNext({ body: '<html></html>' }, { times: 9 });
  const { works, error } = await tryForge('forgejo', settings);
  expect([works, error]).toEqual([false, 'This address does not respond like Forgejo.']);
});

test('testForge: uses a stored token with its own URL only', async () => {
  await dashboard.settings.save(dashboard.ada, SETTINGS.forgejo());
  expect(await tryForge('forgejo', { forgejoUrl: forgejo.url })).toMatchObject({ works: true });
  await expect(tryForge('forgejo', { forgejoUrl: gitlab.url })).rejects.toMatchObject({ code: 'invalid_input' });
  expect(gitlab.seen).toEqual([]);
});

test.each<[string, Forge, boolean, readonly string[], () => void]>([
  ['a classic GitHub token without repo', 'github', true, ['repo'], () => (github.scopes = ['public_repo'])],
  [
    'a fine-grained GitHub token without issues',
    'github',
    true,
    ['Issues: read and write'],
    () => {
      github.scopes = [];
      github.failNext(refused, { path: /issues$/ });
    },
  ],
  [
    'a GitHub token without webhooks',
    'github',
    true,
    ['Webhooks: read and write, or admin:repo_hook'],
    () => (github.mayWriteHooks = false),
  ],
  [
    'a Forgejo token without scopes',
    'forgejo',
    false,
    ['read:user', 'write:repository', 'write:issue'],
    () => forgejo.failNext(refused, { times: 9 }),
  ],
  ['a Forgejo token without webhooks', 'forgejo', true, ['write:repository'], () => (forgejo.mayWriteHooks = false)],
  ['a read-only GitLab token', 'gitlab', true, ['api'], () => (gitlab.scopes = ['read_api'])],
  ['a GitLab token for users only', 'gitlab', false, ['api'], () => (gitlab.scopes = ['read_user'])],
  [
    'a token of an old GitLab without webhooks',
    'gitlab',
    true,
    ['api'],
    () => Object.assign(gitlab, { scopes: undefined, mayWriteHooks: false }),
  ],
])('testForge with %s: lists the missing permissions', async (_reason, forge, works, missing, arrange) => {
  arrange();
  const found = await tryForge(forge);
  expect([found.works, found.missing.map(({ permission }) => permission)]).toEqual([works, missing]);
});

test('testForge with a GitHub username only: works, and lists the token as missing', async () => {
  const found = await tryForge('github', { githubUrl: github.url, githubUsername: 'acme' });
  expect(found).toMatchObject({ works: true, repoCount: 1, missing: [{ permission: 'a token' }] });
});
