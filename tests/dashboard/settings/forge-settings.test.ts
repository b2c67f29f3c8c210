import { mergeForgeSettings, NO_FORGES, type SettingsRequest } from '../../../src/dashboard/settings/settings-rows.js';

const refusalOf = (field: string) => expect.objectContaining({ code: 'invalid_input', field }) as Error;

const stored = {
  ...NO_FORGES,
  githubUsername: 'mona',
  githubToken: 'ghp_stored',
  githubAppInstallationId: 7,
  forgejoUrl: 'https://codeberg.org',
  forgejoToken: 'fj_stored',
  renovateAuthors: ['bot'],
};

test.each<[string, SettingsRequest, object]>([
  [
    'clears omitted values, but keeps tokens',
    { forgejoUrl: stored.forgejoUrl },
    { ...NO_FORGES, forgejoUrl: stored.forgejoUrl, githubToken: 'ghp_stored', forgejoToken: 'fj_stored' },
  ],
  [
    'keeps a token if the request has a blank one',
    { githubToken: ' ', forgejoToken: '', forgejoUrl: stored.forgejoUrl },
    { githubToken: 'ghp_stored', forgejoToken: 'fj_stored' },
  ],
  [
    'replaces a token, without surrounding spaces',
    { githubToken: ' ghp_new\n', forgejoUrl: stored.forgejoUrl },
    { githubToken: 'ghp_new' },
  ],
  ['removes a token for null', { githubToken: null, forgejoToken: null }, { githubToken: '', forgejoToken: '' }],
  [
    'removes the tokens of forges whose URL changed',
    { githubUrl: 'https://github.example', forgejoUrl: 'https://forge.example' },
    { githubToken: '', forgejoToken: '' },
  ],
  [
    'accepts a new token with a new URL',
    { forgejoUrl: 'https://forge.example', forgejoToken: 'fj_new' },
    { forgejoToken: 'fj_new' },
  ],
  [
    'removes duplicate authors',
    { renovateAuthors: [' a', 'b ', 'a', ' '], forgejoToken: null },
    { renovateAuthors: ['a', 'b'] },
  ],
])('mergeForgeSettings: %s', (_rule, request, merged) => {
  expect(mergeForgeSettings(stored, request)).toMatchObject(merged);
});

test.each([
  ['https://forge.example/', 'https://forge.example'],
  ['HTTP://Forge.Example:80/git//', 'http://forge.example/git'],
  [' https://forge.example:8443/a/b ', 'https://forge.example:8443/a/b'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
])('mergeForgeSettings: normalizes the URL %j to %j', (forgejoUrl, normal) => {
  expect(mergeForgeSettings(NO_FORGES, { forgejoUrl }).forgejoUrl).toBe(normal);
});

test.each([
  ['invalid syntax', 'codeberg'],
  ['an unsupported scheme', 'ftp://forge.example'],
  ['a scheme that runs code', 'javascript:alert(1)'],
  ['credentials', 'https://me:secret@forge.example'],
  ['a query', 'https://forge.example/?token=x'],
  ['a fragment', 'https://forge.example/#x'],
])('mergeForgeSettings: rejects a URL with %s, without quoting it', (_reason, gitlabUrl) => {
  const merge = () => mergeForgeSettings(NO_FORGES, { gitlabUrl });
  expect(merge).toThrow(refusalOf('gitlabUrl'));
  expect(merge).not.toThrow(gitlabUrl);
});

test.each<[string, SettingsRequest, string]>([
  ['a new token', { forgejoToken: 'x' }, 'forgejoUrl'],
  ['a username', { gitlabUsername: 'mona' }, 'gitlabUrl'],
])('mergeForgeSettings: rejects %s of a forge without a URL', (_reason, request, field) => {
  expect(() => mergeForgeSettings(NO_FORGES, request)).toThrow(refusalOf(field));
});

test('mergeForgeSettings: rejects a request that clears the URL of a stored token', () => {
  expect(() => mergeForgeSettings(stored, {})).toThrow(refusalOf('forgejoUrl'));
});
