import type { Page } from 'playwright-core';
import { generateSigningKey, parseSigningKey } from '../../../src/sealing/signing-key.js';
import { formatSignerKey } from '../../../src/sealing/ssh-signature.js';
import { generateKeys } from '../../sealing/age-program.js';
import { describeInBrowser } from '../support/chromium.js';
import { openPageFixture, type PageFixture } from '../support/fixtures.js';
import { createKeyboard, type Keyboard } from '../support/keyboard.js';

describeInBrowser('import, writers and approvals by keyboard', () => {
  let stage: PageFixture;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openPageFixture({ services: 'dashboard,secrets' });
    ({ page } = stage);
    keyboard = createKeyboard(page);
    await send('PUT', '/auth/identity', { public_key: generateKeys().recipient });
    await send('POST', '/consumers', { name: 'acme/shop', public_key: generateKeys().recipient });
  });
  afterAll(() => stage.close());
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });

  async function send(method: string, path: string, data: unknown): Promise<void> {
    const { origin } = stage.server;
    const response = await stage.context.request.fetch(`${origin}/secrets${path}`, {
      ...{ method, data },
      headers: { Origin: origin },
    });
    expect([path, response.ok()]).toEqual([path, true]);
  }

  const open = (path: string) => page.goto(stage.server.origin + path);
  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).last().waitFor();

  test('variables are pasted, and saved for a consumer', async () => {
    const { tabTo, type, press, pressOn } = keyboard;
    await open('/vault/import');
    await page.getByRole('checkbox', { name: 'acme/shop' }).waitFor();
    await tabTo('textbox "Variables"');
    await type('DB_PASSWORD=one\nMAIL_KEY=two');
    await said('2 new');
    await tabTo('checkbox "acme/shop"');
    await press('Space');
    await pressOn('button "Save 2 secrets"');
    await said('2 secrets saved.');
  });

  test('a request of a command line is approved with a passkey', async () => {
    const { tabTo, type, press, pressOn } = keyboard;
    const body = JSON.stringify({ client_id: 'test', scope: 'list', device_name: 'laptop' });
    const headers = { 'content-type': 'application/json' };
    const begun = await fetch(`${stage.server.origin}/secrets/auth/device`, { method: 'POST', headers, body });
    const { user_code: code } = (await begun.json()) as { readonly user_code: string };
    await open('/vault/device');
    await tabTo('textbox "Code"');
    await type(code);
    await press('Enter');
    await page.getByText('laptop').first().waitFor();
    await pressOn('button "Approve with passkey"');
    await said('Approved.');
  });

  test('a signing key is created and deleted, and a writer is trusted and removed', async () => {
    const { tabTo, type, press, pressOn, confirm } = keyboard;
    await open('/vault/writers');
    await tabTo('textbox "Name of the key"');
    await type('Laptop');
    await press('Enter');
    await said('Signing key created.');
    await page.getByText(/^Laptop \(SHA256:.*signs the values/).waitFor();
    await tabTo('textbox "Name"');
    await type('CI');
    await press('Tab');
    await type(formatSignerKey(parseSigningKey(generateSigningKey()).publicKey));
    await pressOn('button "Trust"');
    await said('Writer trusted.');
    await confirm('button "Remove CI"');
    await said('CI is no longer trusted.');
    await confirm('button "Delete signing key"');
    await said('Signing key deleted.');
  });
});
