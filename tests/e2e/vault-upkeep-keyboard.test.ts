import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { seal } from '../../src/sealing/seal.js';
import { generateKeys } from '../sealing/age-program.js';
import { expectAccessible } from './axe.js';
import { describeInBrowser } from './chromium.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

// In the order of a year's upkeep: each goes on from what is there.
describeInBrowser('the upkeep of secrets, by the keyboard alone', () => {
  const own = generateKeys();
  const shop = generateKeys();
  let stage: Stage;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    const args = ['--instance-label', 'Test & "trial"'];
    stage = await openStage({ services: 'dashboard,secrets', args });
    page = stage.page;
    keyboard = createKeyboard(page);
    await ask('PUT', '/auth/identity', { public_key: own.recipient });
    await ask('POST', '/consumers', { name: 'acme/shop', public_key: shop.recipient });
    for (const name of ['acme/api', 'acme/mail', 'acme/old']) await ask('POST', '/consumers', { name });
    await store('db-password', { tags: ['prod'], used_by: ['acme/api', 'acme/mail', 'acme/shop'] }, [own, shop]);
    await store('mail-key', { tags: ['test'] }, [own]);
    await store('plain', { tags: ['prod'], used_by: ['acme/shop'] }, [shop]);
  });
  afterAll(() => stage.close());
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });

  /** What is there before somebody comes, as programs put it there. */
  async function ask(method: string, path: string, data: unknown): Promise<void> {
    const { origin } = stage.server;
    const answer = await stage.context.request.fetch(`${origin}/secrets${path}`, {
      ...{ method, data },
      headers: { Origin: origin },
    });
    expect([path, answer.ok()]).toEqual([path, true]);
  }

  type Keys = ReturnType<typeof generateKeys>;

  async function sealTo(value: string, readers: readonly Keys[]) {
    const recipients = readers.map(({ recipient }) => recipient);
    return { value: Buffer.from(await seal(value, recipients)).toString('base64'), recipients };
  }

  async function store(slug: string, facts: object, readers: readonly Keys[]): Promise<void> {
    await ask('POST', '/objects', { slug, ...facts, ...(await sealTo(`the first ${slug}`, readers)) });
  }

  const go = async (path: string, awaited: string): Promise<void> => {
    await page.goto(stage.server.origin + path);
    await page.getByText(awaited).first().waitFor();
  };
  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).first().waitFor();

  /** Chooses in what has the focus by the first letters of an option, as browsers let people. */
  async function choose(label: string, letters: string): Promise<void> {
    await keyboard.tabTo(`combobox "${label}"`);
    await page.keyboard.type(letters);
  }

  async function paste({ identity }: Keys): Promise<void> {
    await page.getByText('Paste an identity').waitFor();
    await keyboard.pressOn('Paste an identity');
    await keyboard.tabTo('textbox "Identity');
    await keyboard.type(identity);
    await keyboard.pressOn('button "Open with this identity"');
  }

  test('the overview is searched, filtered by tag, state and consumer, and tells all consumers of a secret', async () => {
    const { tabTo, type, press, pressOn, focused } = keyboard;
    await go('/vault', '3 of 3 shown');
    await page.getByRole('link', { name: 'Trellis Test & "trial"' }).waitFor();
    await tabTo('searchbox "Search names and uses"');
    await type('KEY');
    await said('1 of 3 shown');
    await pressOn('button "Clear"');
    await said('3 of 3 shown');
    await press('Shift+Tab');
    expect(await focused()).toContain('combobox "State"');
    await page.keyboard.type('without');
    await said('1 of 3 shown');
    await pressOn('button "Clear"');
    await pressOn('button "Only those tagged test"');
    await said('1 of 3 shown');
    await page.reload();
    await said('3 of 3 shown');
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

  test('a value is restored from its history, and the secret is renamed', async () => {
    const { confirm, pressOn, tabTo, type, press } = keyboard;
    await ask('PUT', '/objects/mail-key', await sealTo('the second', [own]));
    await go('/vault/objects/mail-key', 'Version 1');
    await confirm('button "Restore version 1"');
    await said('Version 1 of “mail-key” is its value again.');
    await page.getByRole('button', { name: 'Restore version 2' }).waitFor();
    await page.getByRole('row', { name: /restore \(version 1\) mail-key owner/ }).waitFor();
    await tabTo('region "Entries of the audit log"');
    await go('/vault/objects/mail-key', 'Version 2');
    await pressOn('Rename');
    await tabTo('textbox "New name"');
    await type('smtp-key');
    await press('Enter');
    await page.getByRole('heading', { name: 'smtp-key', level: 1 }).waitFor();
  });

  test('a secret without a copy for the owner says so, and is opened with the identity of its consumer', async () => {
    await go('/vault/objects/plain', 'Only its consumers can open this value');
    await page.getByText('one key, which is not yours').waitFor();
    await expectAccessible(page);
    await keyboard.pressOn('button "Open here"');
    await paste(own);
    await page.getByRole('alert').getByText('This value isn’t sealed to you').waitFor();
    await keyboard.tabTo('textbox "Identity');
    await keyboard.type(shop.identity);
    await keyboard.pressOn('button "Open with this identity"');
    await page.getByText('the first plain', { exact: true }).waitFor();
  });

  test('a consumer is found, gets a key, is made one with another, and deleted', async () => {
    const { tabTo, type, pressOn, press, confirm } = keyboard;
    await go('/vault/consumers', '4 of 4 shown');
    await tabTo('checkbox "Only those without a key"');
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
    await said('“acme/api” is saved.');
    await go('/vault/consumers', '4 of 4 shown');
    await tabTo('searchbox "Search consumers"');
    await type('old');
    await said('1 of 4 shown');
    await pressOn('Edit');
    await tabTo('textbox "Name"');
    await type('acme/mail');
    await press('Enter');
    await said('“acme/mail” is saved.');
    await go('/vault/consumers', '3 of 3 shown');
    await confirm('button "Delete acme/mail"');
    await said('“acme/mail” is no consumer any more; the secrets stay.');
    await tabTo('link "2 secrets"');
    await press('Enter');
    await page.waitForURL('**/vault?consumer=acme%2Fshop');
    await said('2 of 3 shown');
  });

  test('a value is sealed anew to the keys that its consumers have now', async () => {
    await go('/vault/objects/db-password', 'Its consumers have other keys than it is sealed to: acme/api.');
    await keyboard.pressOn('button "Seal anew"');
    await paste(own);
    await said('“db-password” is sealed anew');
    await page.getByText('Its consumers have other keys').waitFor({ state: 'detached' });
    await page.getByText('3 keys, yours among them').waitFor();
  });

  test.each([
    ['consumer', 'Consumer tokens'],
    ['write', 'Write tokens'],
  ])('a %s token is made, copied, rotated, revoked and purged', async (kind, title) => {
    const { tabTo, type, pressOn, press, confirm } = keyboard;
    const part = page.getByRole('region', { name: title });
    const shown = part.getByLabel('The token. Copy it now');
    await go('/vault/tokens', 'For a consumer: one reads');
    await part.getByText('There are none.').waitFor();
    if (kind === 'consumer') {
      await tabTo('textbox "Consumer"');
      await type('acme/shop');
    } else {
      // Past the form of the other kind, whose fields have the same names.
      await tabTo('button "Make a consumer token"');
    }
    await tabTo('textbox "What it is for"');
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
    await part.getByText('There are none.').waitFor();
  });

  test('the audit log is filtered, read on, exported and verified', async () => {
    const { pressOn, tabTo, press } = keyboard;
    for (let version = 0; version < 60; version += 1) {
      await ask('PUT', '/objects/smtp-key', await sealTo(`${version}`, [own]));
    }
    await go('/vault/audit', '50 of ');
    await choose('About', 'secrets');
    const rows = page.getByRole('table').getByRole('row');
    await pressOn('button "Show older ones"');
    await rows.nth(51).waitFor();
    await choose('Secret', 'plain');
    await page.getByRole('row', { name: /create plain owner/ }).waitFor();
    await expectAccessible(page);
    const count = (await rows.count()) - 1;
    for (const [kind, read] of [
      ['CSV', (text: string) => text.trim().split('\r\n').length - 1],
      ['JSON', (text: string) => (JSON.parse(text) as unknown[]).length],
    ] as const) {
      const download = page.waitForEvent('download');
      await pressOn(`button "Export as ${kind}"`);
      expect(read(await readFile(await (await download).path(), 'utf8'))).toBe(count);
      await said('in the file.');
    }
    await pressOn('button "Verify the chain"');
    await said(/All \d+ entries are as they were written/);
    await tabTo('textbox "To"');
    await press('0', '1', '0', '1', '2', '0', '2', '0');
    await page.getByText('No entry fits.').waitFor();
  });
});
