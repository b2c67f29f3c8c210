import type { Page } from 'playwright-core';
import { seal } from '../../../src/sealing/seal.js';
import { eventually } from '../../eventually.js';
import { generateKeys } from '../../sealing/age-program.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openSignedInFixture, type PageFixture } from '../support/fixtures.js';
import { createKeyboard, type Keyboard } from '../support/keyboard.js';
import { readDownload } from '../support/page-actions.js';

// The tests build on each other.
describeInBrowser('maintenance of secrets by keyboard', () => {
  const own = generateKeys();
  const shop = generateKeys();
  let stage: PageFixture;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    const args = ['--instance-label', 'Test & "trial"'];
    stage = await openSignedInFixture({ services: 'dashboard,secrets', args });
    page = stage.page;
    keyboard = createKeyboard(page);
    await send('PUT', '/auth/identity', { public_key: own.recipient });
    await send('POST', '/consumers', { name: 'acme/shop', public_key: shop.recipient });
    for (const name of ['acme/api', 'acme/mail', 'acme/old']) await send('POST', '/consumers', { name });
    await store('db-password', { tags: ['prod'], used_by: ['acme/api', 'acme/mail', 'acme/shop'] }, [own, shop]);
    await store('mail-key', { tags: ['test'] }, [own]);
    await store('plain', { tags: ['prod'], used_by: ['acme/shop'] }, [shop]);
  });
  afterAll(() => stage.close());
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });

  /** Sends a request to the secrets service with the session of the owner. */
  async function send(method: string, path: string, data: unknown): Promise<void> {
    const { origin } = stage.server;
    const response = await stage.context.request.fetch(`${origin}/secrets${path}`, {
      ...{ method, data },
      headers: { Origin: origin },
    });
    expect([path, response.ok()]).toEqual([path, true]);
  }

  type Keys = ReturnType<typeof generateKeys>;

  async function sealTo(value: string, owners: readonly Keys[]) {
    const recipients = owners.map(({ recipient }) => recipient);
    return { value: Buffer.from(await seal(value, recipients)).toString('base64'), recipients };
  }

  async function store(slug: string, metadata: object, owners: readonly Keys[]): Promise<void> {
    await send('POST', '/objects', { slug, ...metadata, ...(await sealTo(`the first ${slug}`, owners)) });
  }

  const go = async (path: string, awaited: string): Promise<void> => {
    await page.goto(stage.server.origin + path);
    await page.getByText(awaited).first().waitFor();
  };
  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).first().waitFor();

  /** Selects an option of a select box by typing its first letters. */
  async function choose(label: string, letters: string): Promise<void> {
    await keyboard.tabTo(`combobox "${label}"`);
    await page.keyboard.type(letters);
  }

  async function paste({ identity }: Keys): Promise<void> {
    await page.getByText('Paste an identity').waitFor();
    await keyboard.pressOn('Paste an identity');
    await keyboard.tabTo('textbox "Identity');
    await keyboard.type(identity);
    await keyboard.pressOn('button "Unlock with identity"');
  }

  test('the list is searched, filtered by tag, state and consumer, and shows all consumers of a secret', async () => {
    const { tabTo, type, press, pressOn, focused } = keyboard;
    await go('/vault', '3 of 3 shown');
    await page.getByRole('link', { name: 'Trellis Test & "trial"' }).waitFor();
    await tabTo('searchbox "Search names and descriptions"');
    await type('KEY');
    await said('1 of 3 shown');
    await pressOn('button "Clear"');
    await said('3 of 3 shown');
    await press('Shift+Tab');
    expect(await focused()).toContain('combobox "State"');
    await page.keyboard.type('without');
    await said('1 of 3 shown');
    await pressOn('button "Clear"');
    await pressOn('button "Show only secrets tagged test"');
    await said('1 of 3 shown');
    await page.waitForURL(/tag=test/);
    await page.reload();
    await said('1 of 3 shown');
    await choose('Tag', 'prod');
    await said('2 of 3 shown');
    await pressOn('button "+1 more consumers of db-password"');
    await page.getByRole('dialog', { name: 'Consumers of db-password' }).waitFor();
    await expectAccessible(page);
    await tabTo('searchbox "Search consumers"');
    await type('mai');
    await said('1 of 3 shown');
    await pressOn('link "acme/mail"');
    await page.waitForURL('**/vault?consumer=acme%2Fmail');
    await said('1 of 3 shown');
    await choose('Consumer', 'acme/s');
    await said('2 of 3 shown');
  });

  test('previous values are destroyed after a confirmation, and the current value stays', async () => {
    const { arriveAt, confirm, press, pressOn } = keyboard;
    for (const value of ['leaked', 'the first plain']) await send('PUT', '/objects/plain', await sealTo(value, [shop]));
    await go('/vault/objects/plain', 'Version 2');
    await pressOn('button "Destroy previous values of plain"');
    await page.getByRole('button', { name: 'Destroy 2 values permanently', exact: true }).waitFor();
    await press('Escape');
    await page.getByRole('button', { name: 'Restore version 2' }).waitFor();
    await expectAccessible(page);
    await confirm('button "Destroy previous values of plain"');
    await said('Previous values of “plain” destroyed.');
    await page.getByText('No earlier versions').waitFor();
    await arriveAt('heading "Version history"');
    expect(await page.getByRole('button', { name: /^Destroy / }).count()).toBe(0);
    const { origin } = stage.server;
    const read = async (path: string) =>
      (await stage.context.request.get(`${origin}/secrets/objects/plain${path}`)).status();
    expect([await read(''), await read('/versions/1'), await read('/versions/2')]).toEqual([200, 404, 404]);
  });

  test('a previous version is restored, and the secret is renamed', async () => {
    const { confirm, pressOn, tabTo, type, press } = keyboard;
    await send('PUT', '/objects/mail-key', await sealTo('the second', [own]));
    await go('/vault/objects/mail-key', 'Version 1');
    await confirm('button "Restore version 1"');
    await said('Version 1 of “mail-key” restored.');
    await page.getByRole('button', { name: 'Restore version 2' }).waitFor();
    await page.getByRole('row', { name: /restore \(version 1\) mail-key owner/ }).waitFor();
    await tabTo('region "Audit log entries"');
    await go('/vault/objects/mail-key', 'Version 2');
    await pressOn('Rename');
    await tabTo('textbox "New name"');
    await type('smtp-key');
    await press('Enter');
    await page.getByRole('heading', { name: 'smtp-key', level: 1 }).waitFor();
  });

  test('a secret that the owner cannot read says so, and is shown with the identity of its consumer', async () => {
    await go('/vault/objects/plain', 'Only its consumers can decrypt this value');
    await page.getByText('one key, not yours').waitFor();
    await expectAccessible(page);
    await keyboard.pressOn('button "Show value"');
    await paste(own);
    await page.getByRole('alert').getByText('This value isn’t encrypted to the key').waitFor();
    await keyboard.tabTo('textbox "Identity');
    await keyboard.type(shop.identity);
    await keyboard.pressOn('button "Unlock with identity"');
    await page.getByText('the first plain', { exact: true }).waitFor();
  });

  test('a consumer is found, gets a key, is merged and is deleted', async () => {
    const { tabTo, type, pressOn, press, confirm, arriveAt } = keyboard;
    await go('/vault/consumers', '4 of 4 shown');
    await tabTo('checkbox "Missing a key"');
    await press('Space');
    await said('3 of 4 shown');
    await press('Space');
    await press('Shift+Tab');
    await type('API');
    await said('1 of 4 shown');
    await pressOn('Edit');
    await tabTo('textbox "Public key"');
    await type(generateKeys().recipient);
    await press('Enter');
    await said('Consumer “acme/api” saved.');
    await go('/vault/consumers', '4 of 4 shown');
    await tabTo('searchbox "Search consumers"');
    await type('old');
    await said('1 of 4 shown');
    await pressOn('Edit');
    await tabTo('textbox "Name"');
    await type('acme/mail');
    await press('Enter');
    await said('Consumer “acme/mail” saved.');
    // The form of the old name was removed.
    await arriveAt('heading "Consumers"');
    await go('/vault/consumers', '3 of 3 shown');
    await confirm('button "Delete acme/mail"');
    await said('Consumer “acme/mail” deleted. Its secrets remain.');
    await arriveAt('heading "Consumers"');
    await tabTo('link "2 secrets"');
    await press('Enter');
    await page.waitForURL('**/vault?consumer=acme%2Fshop');
    await said('2 of 3 shown');
  });

  test('a value is re-encrypted to the current keys of its consumers', async () => {
    await go('/vault/objects/db-password', 'This value is encrypted to outdated keys (missing: acme/api).');
    await keyboard.pressOn('button "Re-encrypt"');
    await paste(own);
    await said('“db-password” re-encrypted');
    await page.getByText('This value is encrypted to outdated keys').waitFor({ state: 'detached' });
    await page.getByText('3 keys, including yours').waitFor();
  });

  test.each([
    ['consumer', 'Consumer tokens'],
    ['write', 'Write tokens'],
  ])('a %s token is created, copied, rotated, revoked and purged', async (kind, title) => {
    const { tabTo, type, pressOn, press, confirm } = keyboard;
    const part = page.getByRole('region', { name: title });
    const shown = part.getByLabel('New token. Copy it now');
    await go('/vault/tokens', 'Can read only the encrypted secrets of one consumer.');
    await part.getByText('No tokens').waitFor();
    if (kind === 'consumer') {
      await tabTo('textbox "Consumer"');
      await type('acme/shop');
    } else {
      // Skips the form for consumer tokens, whose fields have the same labels.
      await tabTo('button "Create consumer token"');
    }
    await tabTo('textbox "Description"');
    await type('deploy');
    await press('Enter');
    await shown.waitFor();
    const first = await shown.inputValue();
    await pressOn('button "Copy"');
    await part.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(first);
    await part.getByText('1 active', { exact: true }).waitFor();
    await confirm('button "Rotate deploy"');
    await page.waitForFunction(
      (old) => [...document.querySelectorAll('input')].every((field) => field.value !== old),
      first,
    );
    await confirm('button "Revoke deploy"');
    await part.getByText('1 revoked', { exact: true }).waitFor();
    await confirm('button "Purge deploy"');
    await part.getByText('No tokens').waitFor();
  });

  test('the audit log is filtered, continued, exported and verified', async () => {
    const { pressOn, tabTo, press } = keyboard;
    for (let version = 0; version < 60; version += 1) {
      await send('PUT', '/objects/smtp-key', await sealTo(`${version}`, [own]));
    }
    await go('/vault/audit', '50 of ');
    const shown = page.getByText(/^50 of \d+ shown$/u);
    const all = await shown.textContent();
    await choose('Subject', 'secrets');
    // The entries of the filter replace older ones that were loaded for the previous filter.
    await eventually(async () => expect(await shown.textContent()).not.toBe(all));
    const rows = page.getByRole('table').getByRole('row');
    await pressOn('button "Show older entries"');
    await rows.nth(51).waitFor();
    await choose('Secret', 'plain');
    await eventually(async () => expect(await rows.filter({ hasText: 'smtp-key' }).count()).toBe(0));
    await page.getByRole('row', { name: /create plain owner/ }).waitFor();
    await expectAccessible(page);
    const count = (await rows.count()) - 1;
    for (const [kind, countEntries] of [
      ['CSV', (text: string) => text.trim().split('\r\n').length - 1],
      ['JSON', (text: string) => (JSON.parse(text) as unknown[]).length],
    ] as const) {
      const download = page.waitForEvent('download');
      await pressOn(`button "Export as ${kind}"`);
      expect(countEntries(await readDownload(await download))).toBe(count);
      await said(/Exported \d+ entr/);
    }
    await pressOn('button "Verify log"');
    await said(/All \d+ entries are unchanged/);
    await tabTo('textbox "To"');
    await press('0', '1', '0', '1', '2', '0', '2', '0');
    await page.getByText('No matching entries.').waitFor();
  });

  test('the audit log is continued beyond its count, which is too low in a large log', async () => {
    await page.route('**/secrets/audit-log?*', async (route) => {
      const response = await route.fetch({ url: route.request().url().replace('limit=50', 'limit=5') });
      await route.fulfill({ response, headers: { ...response.headers(), 'x-total-count': '6' } });
    });
    await go('/vault/audit', '5 of 6 shown');
    await keyboard.pressOn('button "Show older entries"');
    await page.getByText('10 shown', { exact: true }).waitFor();
    await keyboard.pressOn('button "Show older entries"');
    await page.getByText('15 shown', { exact: true }).waitFor();
    await page.unroute('**/secrets/audit-log?*');
  });
});
