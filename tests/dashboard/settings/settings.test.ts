import { createSettings } from '../../../src/dashboard/settings/settings.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

let dashboard: TestDashboard;

beforeEach(async () => {
  dashboard = await openDashboard();
});
afterEach(() => dashboard.database.destroy());

test('settings: the database contains no secret in plain text', async () => {
  const { settings, database, ada } = dashboard;
  const { webhookToken, webhookSecret } = await settings.save(ada, { githubToken: 'ghp_secret' });
  const rows = await database.selectFrom('settings').selectAll().execute();
  const bytes = JSON.stringify(rows, (_key, value: unknown) =>
    isBytes(value) ? Buffer.from(Object.values(value)).toString('latin1') : value,
  );
  expect(bytes).toContain(ada.personId);
  for (const secret of ['ghp_secret', webhookToken, webhookSecret]) expect(bytes).not.toContain(secret);
});

/** `JSON.stringify` turns bytes into an object of numbers. */
function isBytes(value: unknown): value is Record<string, number> {
  return (
    value instanceof Uint8Array ||
    (typeof value === 'object' && value !== null && '0' in value && !Array.isArray(value))
  );
}

test('settings: encrypted values copied to the row of a different user cannot be decrypted', async () => {
  const { settings, database, ada, bob } = dashboard;
  await settings.save(ada, { githubToken: 'ghp_of_ada' });
  await settings.save(bob, {});
  const { forges } = await database
    .selectFrom('settings')
    .select('forges')
    .where('person_id', '=', ada.personId)
    .executeTakeFirstOrThrow();
  await database.updateTable('settings').set({ forges }).where('person_id', '=', bob.personId).execute();
  await expect(settings.findForges(bob.personId)).rejects.toThrow();
});

test('settings: cannot be decrypted with a different server key', async () => {
  const { database, ada } = dashboard;
  const other = createSettings({ database, key: createServerKey('o'.repeat(43)) });
  await expect(other.findForges(ada.personId)).rejects.toThrow();
});

test('settings: report whether the server has a GitHub App, but none of its data', async () => {
  const githubApp = { id: 47_114_711, privateKey: 'private key', url: '' };
  const { settings, database: other, bob } = await openDashboard({ githubApp });
  const view = await settings.read(bob);
  expect(view.githubAppConfigured).toBe(true);
  expect(JSON.stringify(view)).not.toMatch(/47114711|private key/);
  expect((await dashboard.settings.read(dashboard.bob)).githubAppConfigured).toBe(false);
  await other.destroy();
});

test('settings: concurrent first reads return the same webhook', async () => {
  const { settings, bob } = dashboard;
  const [first, second] = await Promise.all([settings.read(bob), settings.read(bob)]);
  expect(first.webhookToken).toBe(second.webhookToken);
});

test('findForges: returns undefined until forge settings are saved', async () => {
  const { settings, preferences, bob } = dashboard;
  await preferences.saveTheme(bob, 'dark');
  await settings.read(bob);
  expect(await settings.findForges(bob.personId)).toBeUndefined();
  await settings.save(bob, { githubUsername: 'bob' });
  expect(await settings.findForges(bob.personId)).toMatchObject({ githubUsername: 'bob' });
});

test('settings: saving forge settings keeps the preferences', async () => {
  const { settings, preferences, ada } = dashboard;
  await preferences.saveTimezone(ada, 'Asia/Kolkata');
  await preferences.saveFilterState(ada, { pill: 'all' });
  expect(await settings.save(ada, {})).toMatchObject({ timezone: 'Asia/Kolkata' });
  expect(await preferences.readFilterState(ada)).toEqual({ pill: 'all' });
});

test('filter state and sharing: reject tokens', async () => {
  const { preferences, sharing, ada } = dashboard;
  const token = { ...ada, kind: 'token', tokenId: 't', scopes: ['read', 'write'] } as const;
  const refusal = { code: 'session_required' };
  await expect(preferences.readFilterState(token)).rejects.toMatchObject(refusal);
  await expect(preferences.saveFilterState(token, {})).rejects.toMatchObject(refusal);
  await expect(sharing.list(token)).rejects.toMatchObject(refusal);
});

test('settings: only admins can set an installation of the GitHub App; other users can keep or remove theirs', async () => {
  const { settings, ada, bob } = dashboard;
  const named = { githubAppInstallationId: 7 };
  await expect(settings.save({ ...bob, isAdmin: false }, named)).rejects.toMatchObject({
    code: 'forbidden',
    field: 'githubAppInstallationId',
  });
  await settings.save({ ...ada, isAdmin: true }, named);
  await expect(settings.save({ ...ada, isAdmin: false }, named)).resolves.toMatchObject(named);
  await expect(settings.save({ ...ada, isAdmin: false }, {})).resolves.toMatchObject({ githubAppInstallationId: 0 });
});
