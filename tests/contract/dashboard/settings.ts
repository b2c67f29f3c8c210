import { forgejoRepository } from '../../forges/forgejo-state.js';
import { FORGEJO_TOKEN, startForgejo } from '../../forges/forgejo.js';
import type { Stage } from './fixtures.js';

const FORGES = {
  githubUsername: 'mona',
  githubToken: 'ghp_hidden',
  forgejoUrl: 'https://codeberg.org/',
  forgejoUsername: 'mona',
  gitlabUrl: 'https://gitlab.com',
  gitlabToken: 'glpat-hidden',
  renovateRebaseLabel: 'rebase',
  renovateAuthors: [' bot ', 'bot', ''],
};

export function settingsTests(stage: () => Stage): void {
  const signIn = async () => stage().client(await stage().addUser());

  test('getSettings: returns empty settings, with the same webhook on every call', async () => {
    const client = await signIn();
    const { data } = await client.GET('/api/settings');
    expect(data).toMatchObject({ githubUsername: '', githubTokenSet: false, gitlabTokenSet: false, theme: '' });
    expect(data!.webhookToken).not.toBe('');
    expect((await client.GET('/api/settings')).data).toEqual(data);
  });

  test('getSettings: returns the webhook token and secret to API tokens only with write scope', async () => {
    const { person, ...session } = await stage().addUser();
    const readSettings = async (scopes: readonly ('read' | 'write')[]) => {
      const token = await stage().server.issueToken('personal', person, scopes);
      return (await stage().client({ token }).GET('/api/settings')).data!;
    };
    const { data: whole } = await stage().client(session).GET('/api/settings');
    const { webhookToken, webhookSecret, ...rest } = whole!;
    expect([webhookToken, webhookSecret]).toEqual([expect.stringMatching(/^.{22}$/), expect.stringMatching(/^.{43}$/)]);
    expect(await readSettings(['read'])).toEqual(rest);
    expect(await readSettings(['read', 'write'])).toEqual(whole);
  });

  test('saveSettings: returns the new settings without tokens', async () => {
    const client = await signIn();
    const { data } = await client.PUT('/api/settings', { body: FORGES });
    expect(data).toMatchObject({
      githubUsername: 'mona',
      githubTokenSet: true,
      githubAppInstallationId: 0,
      forgejoUrl: 'https://codeberg.org',
      forgejoTokenSet: false,
      gitlabTokenSet: true,
      renovateAuthors: ['bot'],
    });
    expect(JSON.stringify(data)).not.toMatch(/ghp_|glpat/);
    expect((await client.GET('/api/settings')).data).toEqual(data);
  });

  test('saveSettings: lets only admins set an installation of the GitHub App', async () => {
    const body = { githubAppInstallationId: 2 ** 53 - 1 };
    const { error, response } = await (await signIn()).PUT('/api/settings', { body });
    expect([response.status, error]).toMatchObject([403, { code: 'forbidden', field: 'githubAppInstallationId' }]);
    expect((await stage().client(stage().admin).PUT('/api/settings', { body })).data).toMatchObject(body);
  });

  test('saveSettings: accepts a token with write scope', async () => {
    const { person } = await stage().addUser();
    const token = await stage().server.issueToken('personal', person, ['write']);
    const body = { githubUsername: 'mona' };
    expect((await stage().client({ token }).PUT('/api/settings', { body })).response.status).toBe(200);
  });

  test.each([
    ['a misspelt field', { forgejoURL: 'https://codeberg.org' }, 'forgejoURL'],
    ['a username without a URL', { forgejoUsername: 'mona' }, 'forgejoUrl'],
    ['a token without a URL', { gitlabToken: 'x' }, 'gitlabUrl'],
    ['a URL with an unsupported scheme', { forgejoUrl: 'file:///etc/passwd' }, 'forgejoUrl'],
    ['a token with a line break', { githubToken: 'a\r\nX: b' }, 'githubToken'],
    ['too many authors', { renovateAuthors: Array.from({ length: 21 }, String) }, 'renovateAuthors'],
    ['an author with a comma', { renovateAuthors: ['a,b'] }, 'renovateAuthors.0'],
  ])('saveSettings: rejects %s', async (_reason, body: object, field) => {
    const { error, response } = await (await signIn()).PUT('/api/settings', { body });
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field }]);
  });

  test("testForge: returns the forge's response, also for a wrong token", async () => {
    const client = await signIn();
    const forgejo = await startForgejo([forgejoRepository('mona/tools')]);
    const tryToken = (forgejoToken: string) =>
      client.POST('/api/settings/test', {
        body: { forge: 'forgejo', settings: { forgejoUrl: forgejo.url, forgejoToken } },
      });
    expect((await tryToken(FORGEJO_TOKEN)).data).toMatchObject({ works: true, username: 'mona', repoCount: 1 });
    expect((await tryToken('wrong')).data).toMatchObject({ works: false, errorKind: 'unauthorized', missing: [] });
    await forgejo.close();
  });

  test('testForge: returns 400 without a credential', async () => {
    const body = { forge: 'gitlab', settings: { gitlabUrl: 'https://gitlab.com' } } as const;
    const { error, response } = await (await signIn()).POST('/api/settings/test', { body });
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field: 'settings' }]);
  });

  test('saveTheme: returns the theme, which getTheme and getSettings then return too', async () => {
    const client = await signIn();
    expect((await client.GET('/api/settings/theme')).data).toEqual({ theme: '' });
    expect((await client.PUT('/api/settings/theme', { body: { theme: 'dark' } })).data).toEqual({ theme: 'dark' });
    expect((await client.GET('/api/settings/theme')).data).toEqual({ theme: 'dark' });
    expect((await client.GET('/api/settings')).data?.theme).toBe('dark');
  });

  test('saveTimezone: returns the time zone, and resets it for an empty string', async () => {
    const client = await signIn();
    const save = (timezone: string) => client.PUT('/api/settings/timezone', { body: { timezone } });
    expect((await save('Europe/Berlin')).data).toEqual({ timezone: 'Europe/Berlin' });
    expect((await client.GET('/api/settings/timezone')).data).toEqual({ timezone: 'Europe/Berlin' });
    expect((await save('')).response.status).toBe(200);
    expect((await client.GET('/api/settings')).data).not.toHaveProperty('timezone');
  });

  test.each(['Local', 'Middle/Earth', '+01:00', 'Europe/Berlin\n'])('saveTimezone: rejects %j', async (timezone) => {
    const { error, response } = await (await signIn()).PUT('/api/settings/timezone', { body: { timezone } });
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field: 'timezone' }]);
  });

  test('saveFilterState: stores any object, and replaces the previous one', async () => {
    const client = await signIn();
    expect((await client.GET('/api/settings/filter-state')).data).toEqual({});
    const save = (body: Record<string, unknown>) => client.PUT('/api/settings/filter-state', { body });
    expect((await save({ pill: 'failing', deep: { ü: [1, null] } })).response.status).toBe(204);
    await save({ pill: 'all' });
    expect((await client.GET('/api/settings/filter-state')).data).toEqual({ pill: 'all' });
  });
}
