import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Locator, Page } from 'playwright-core';
import { checkValue, signValue } from '../../../src/sealing/authentic-values.js';
import { NO_KNOWN_KEYS } from '../../../src/sealing/known-keys.js';
import { seal } from '../../../src/sealing/seal.js';
import { generateSigningKey, parseSigningKey } from '../../../src/sealing/signing-key.js';
import type { Signer } from '../../../src/sealing/value-statement.js';
import { eventually } from '../../eventually.js';
import { generateKeys, runAge, runAgeWithPassphrase } from '../../sealing/age-program.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openPageFixture, type PageFixture } from '../support/fixtures.js';
import { pressAndConfirm, readDownload } from '../support/page-actions.js';
import { addVirtualAuthenticator } from '../support/virtual-authenticator.js';
import { createSecretsPageActions, type SecretsPageActions } from './secrets-page-actions.js';

const MINUTE_MS = 60_000;

/** A plaintext that occurs nowhere else. */
const MARKER = 'marker-9f3b-pa55word-7c1e';

// The tests build on each other, in the order in which a new owner would do these things.
describeInBrowser('secrets pages', () => {
  const shop = generateKeys();
  const api = generateKeys();
  let stage: PageFixture;
  let page: Page;
  let acts: SecretsPageActions;
  let words: string[];

  beforeAll(async () => {
    stage = await openPageFixture({ services: 'dashboard,secrets' });
    page = stage.page;
    acts = createSecretsPageActions(page, stage.server.origin);
  });
  afterAll(() => stage.close());
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });

  const button = (name: RegExp | string): Locator => page.getByRole('button', { name, exact: true });
  const go = (path: string) => page.goto(stage.server.origin + path);
  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).last().waitFor();
  const usePasskey = () => button(/^Use the passkey “First passkey”/).click();
  const expectCopied = (text: string): Promise<void> =>
    eventually(async () => expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text));
  const value = (slug: string) => page.getByRole('group', { name: `Value of ${slug}` });

  const signature = (): Locator => page.locator('.facts .signature');

  /** Reads a value with its signature and number. */
  async function readSigned(slug: string) {
    const read = await page.evaluate(async (path) => {
      const { headers, ...response } = await fetch(path).then(async (answer) => ({
        headers: answer.headers,
        bytes: [...new Uint8Array(await answer.arrayBuffer())],
      }));
      const [id, etag, signed] = ['X-Object-Id', 'ETag', 'X-Object-Signature'].map((name) => headers.get(name) ?? '');
      return { ...response, id: id!, etag: etag!, signed: signed! };
    }, `/secrets/objects/${slug}`);
    const { bytes, id, etag, signed } = read;
    const version = Number(/\.(\d+)"/.exec(etag)?.[1]);
    return { bytes: Uint8Array.from(bytes), id, version, text: Buffer.from(signed, 'base64').toString() };
  }

  async function usePhrase(phrase: string): Promise<void> {
    await page.getByText('Use the recovery phrase').click();
    await page.getByLabel('Recovery phrase (24 words)').fill(phrase);
    await button('Unlock with phrase').click();
  }

  async function usePasted(identity: string): Promise<void> {
    await page.getByText('Paste an identity').click();
    await page.getByLabel('Identity (AGE-SECRET-KEY-1…)').fill(identity);
    await button('Unlock with identity').click();
  }

  test('the empty list leads to the first secret, and the key has a page of its own', async () => {
    await go('/vault');
    await page.getByRole('link', { name: 'Create the first secret' }).click();
    await page.getByRole('heading', { name: 'New secret', level: 1 }).waitFor();
    await page.getByLabel('Program or host').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'My key' }).click();
    await button('Create my key').waitFor();
    await expectAccessible(page);
  });

  test('the owner creates a key with a recovery phrase and a passkey', async () => {
    await button('Create my key').click();
    const list = page.getByRole('list', { name: 'Recovery phrase' });
    await list.waitFor();
    words = await list.getByRole('listitem').allTextContents();
    expect(words).toHaveLength(24);
    await button('Copy the phrase').click();
    await expectCopied(words.join(' '));
    await page.emulateMedia({ media: 'print' });
    await button('Print').waitFor({ state: 'hidden' });
    expect(await list.isVisible()).toBe(true);
    await page.emulateMedia({ media: null });
    await button('Print').waitFor();
    await expectAccessible(page);

    await button('I have written it down').click();
    const asked = page.getByLabel(/^Word \d+$/);
    await eventually(async () => expect(await asked.count()).toBe(2));
    for (const field of await asked.all()) await field.fill('wrong');
    await button('Continue').click();
    await page.getByRole('alert').getByText('match your phrase').waitFor();
    await expectAccessible(page);
    for (const label of await page.locator('main form label').allTextContents()) {
      await page.getByLabel(label, { exact: true }).fill(words[Number(label.slice(5)) - 1]!);
    }
    await button('Continue').click();
    await usePasskey();
    await said('Key created.');
    await page.getByText('unlocks your key', { exact: false }).first().waitFor();
    await expectAccessible(page);

    await page.getByText('Test the phrase').click();
    // Its checksum is wrong. Other words in any order have the right one with a probability of 1/256.
    await page.getByLabel('Recovery phrase (24 words)').fill('zoo '.repeat(24).trim());
    await button('Test').click();
    await page.getByRole('alert').getByText('Not a valid recovery phrase').waitFor();
    await page
      .getByLabel('Recovery phrase (24 words)')
      .fill(words.map((word, index) => `${index + 1}. ${word.toUpperCase()}`).join('\n'));
    await button('Test').click();
    await said('This phrase unlocks your key.');
  });

  test('a passkey on a second device is enabled after the recovery phrase unlocks the key there', async () => {
    const phone = await stage.context.newPage();
    await addVirtualAuthenticator(phone);
    await phone.goto(`${stage.server.origin}/settings`);
    await phone.getByLabel('Passkey name').fill('phone');
    await phone.getByRole('button', { name: 'Add a passkey' }).click();
    await phone.getByText('Passkey “phone” added.').waitFor();
    await phone.goto(`${stage.server.origin}/vault/identity`);
    await phone.getByRole('button', { name: 'Enable phone' }).click();
    await phone.getByText('Use the recovery phrase').click();
    await phone
      .getByRole('region', { name: 'Unlock your key' })
      .getByLabel('Recovery phrase (24 words)')
      .fill(words.join(' '));
    await phone.getByRole('button', { name: 'Unlock with phrase' }).click();
    await phone.getByText('The passkey “phone” now unlocks your key.').waitFor();
    await phone.getByRole('button', { name: 'Enable phone' }).waitFor({ state: 'detached' });
    await phone.close();
  });

  test('consumers are added with their keys, edited, merged and deleted', async () => {
    await acts.addConsumer('acme/shop', shop.recipient);
    await acts.addConsumer('acme/api');
    await acts.addConsumer('acme/old');
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await page.getByLabel('Edit acme/api').click();
    await row('acme/api').getByLabel('Public key').fill(api.recipient);
    await expectAccessible(page);
    await row('acme/api').getByRole('button', { name: 'Save' }).click();
    await said('Consumer “acme/api” saved.');
    await row('acme/api').getByText(api.recipient).waitFor();
    await page.getByLabel('Edit acme/old').click();
    await row('acme/old').getByLabel('Name').fill('acme/shop');
    await row('acme/old').getByRole('button', { name: 'Save' }).click();
    await said('Consumer “acme/shop” saved.');
    await row('acme/old').waitFor({ state: 'detached' });
    await acts.addConsumer('acme/temporary');
    await acts.confirm('Delete acme/temporary', 'Delete consumer');
    await said('Consumer “acme/temporary” deleted. Its secrets remain.');
  });

  test('a typed value appears in no request, no browser storage and no file of the server', async () => {
    await acts.createSecret({ slug: 'db-password', value: MARKER, usedBy: ['acme/shop'], isReadable: true });
    await page.getByText('Readable by', { exact: true }).waitFor();
    const needles = [MARKER, Buffer.from(MARKER).toString('base64'), encodeURIComponent(MARKER)];
    const leaks = (text: string): boolean => needles.some((needle) => text.includes(needle));

    expect(stage.requests.filter((request) => request.includes('"slug":"db-password"'))).toHaveLength(1);
    expect(stage.requests.filter(leaks)).toEqual([]);
    const stored = JSON.stringify([
      await stage.context.storageState({ indexedDB: true }),
      await page.evaluate(() => Object.entries(sessionStorage)),
      await page.evaluate(async () => caches.keys()),
    ]);
    expect(leaks(stored)).toBe(false);
    expect(leaks(stage.server.output())).toBe(false);
    const files = (await readdir(stage.state, { recursive: true, withFileTypes: true })).filter((file) =>
      file.isFile(),
    );
    expect(files.map(({ name }) => name)).toContain('trellis.db');
    for (const { parentPath, name } of files) {
      const bytes = await readFile(join(parentPath, name));
      expect([name, needles.some((needle) => bytes.includes(needle))]).toEqual([name, false]);
    }
  });

  test('the age program decrypts a stored value with the key of a consumer and with the recovery phrase', async () => {
    const sealed = await acts.fetchBytes('/secrets/objects/db-password');
    const key = join(stage.state, 'shop.key');
    await writeFile(key, shop.identity);
    expect(String(await runAge(['-d', '-i', key], sealed))).toBe(MARKER);
    const { recovery_wrapped_identity: recovery } = JSON.parse(await acts.fetchText('/secrets/auth/identity')) as {
      recovery_wrapped_identity: string;
    };
    const own = join(stage.state, 'identity.age');
    await writeFile(own, recovery);
    const options = { folder: stage.state, passphrase: words.join(' '), input: sealed };
    expect(String(await runAgeWithPassphrase(['-d', '-i', own], options))).toBe(MARKER);
  });

  test.each([
    ['a passkey', () => usePasskey()],
    ['the recovery phrase', () => usePhrase(words.join(' '))],
    ['a pasted identity', () => usePasted(shop.identity)],
  ])('the owner shows a value with %s', async (_method, unlock) => {
    await acts.visit('db-password');
    await button('Show value').click();
    await unlock();
    await value('db-password').getByText(MARKER).waitFor();
    await button('Copy the value').click();
    await expectCopied(MARKER);
    await button('Hide').click();
    await eventually(async () => expect(await page.getByText(MARKER).count()).toBe(0));
    // The page keeps the unlocked identity until it is left.
    await button('Show value').click();
    await value('db-password').waitFor();
    await acts.visit('db-password');
    await button('Show value').click();
    await page.getByText('Unlock your key to show “db-password”.').waitFor();
    expect(
      stage.requests.filter((request) => request.includes('AGE-SECRET-KEY') || request.includes(words.join(' '))),
    ).toEqual([]);
  });

  test.each([
    ['a valid but different phrase', () => usePhrase('abandon '.repeat(23) + 'art'), 'doesn’t match your key'],
    ['too few words', () => usePhrase('abandon art'), 'A recovery phrase has 24 words; you entered 2.'],
    ['an invalid identity', () => usePasted('AGE-SECRET-KEY-1NONE'), 'Expected age identities'],
    ['a different identity', () => usePasted(api.identity), 'This value isn’t encrypted to the key'],
  ])('unlocking with %s fails with a reason', async (_input, unlock, reason) => {
    await acts.visit('db-password');
    await button('Show value').click();
    await unlock();
    await page.getByRole('alert').getByText(reason).waitFor();
  });

  test('a value is replaced, and the previous version restored', async () => {
    await acts.visit('db-password');
    await page.getByText('Replace value').click();
    await page.getByLabel('New value').fill('second');
    await page.getByRole('checkbox', { name: 'Encrypt it to my own key too', checked: true }).waitFor();
    await button('Save new value').click();
    await said('Value of “db-password” replaced.');
    await button('Show value').click();
    await usePasskey();
    await value('db-password').getByText('second').waitFor();
    await acts.confirm('Restore version 1', 'Restore this version');
    await said('Version 1 of “db-password” restored.');
    await value('db-password').waitFor({ state: 'detached' });
    await button('Show value').click();
    await value('db-password').getByText(MARKER).waitFor();
  });

  test('a value is re-encrypted to the current key of its consumer', async () => {
    const replaceKey = async (key: string): Promise<void> => {
      await go('/vault/consumers');
      await page.getByLabel('Edit acme/shop').click();
      const row = page.getByRole('listitem').filter({ hasText: 'acme/shop' });
      await row.getByLabel('Public key').fill(key);
      await row.getByRole('button', { name: 'Save' }).click();
      await said('Consumer “acme/shop” saved.');
    };
    const decryptWith = async ({ identity }: { readonly identity: string }): Promise<string> => {
      const key = join(stage.state, 'any.key');
      await writeFile(key, identity);
      return String(await runAge(['-d', '-i', key], await acts.fetchBytes('/secrets/objects/db-password')));
    };
    await replaceKey(api.recipient);
    await acts.visit('db-password');
    await page.getByText('This value is encrypted to outdated keys').waitFor();
    await button('Re-encrypt').click();
    await usePasskey();
    await said('“db-password” re-encrypted');
    await page.getByText('This value is encrypted to outdated keys').waitFor({ state: 'detached' });
    expect(await decryptWith(api)).toBe(MARKER);

    await acts.createSecret({ slug: 'not-mine', value: 'x', usedBy: ['acme/shop'] });
    // A request outside the pages replaces the key, so this browser hasn't recorded it.
    await acts.replaceConsumerKey('acme/shop', shop.recipient);
    await go('/vault');
    await page.getByText('2 secrets are encrypted to outdated keys').waitFor();
    await expectAccessible(page);
    await button('Re-encrypt').click();
    await usePhrase(words.join(' '));
    const dialog = page.getByRole('dialog', { name: 'A public key has changed' });
    await dialog.getByText(api.recipient).waitFor();
    await dialog.getByText(shop.recipient).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await said('0 of 2 re-encrypted.');
    await said('A public key has changed and was not accepted, so nothing was encrypted.');
    let limited = 4;
    await page.route('**/secrets/objects/*', (route) => {
      if (route.request().method() !== 'PUT' || limited === 0) return route.fallback();
      limited -= 1;
      const json = { code: 'rate_limited', error: 'Too many requests.' };
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json });
    });
    await button('Re-encrypt').click();
    await dialog.getByRole('button', { name: 'Accept the new key' }).click();
    await said('1 of 2 re-encrypted.');
    await said('This value isn’t encrypted to the key');
    expect(await decryptWith(shop)).toBe(MARKER);
    await page.unroute('**/secrets/objects/*');
    expect(stage.takeComplaints()).toEqual(Array.from({ length: 4 }, () => '429 PUT /secrets/objects/db-password'));
  });

  test('the form of a new secret shows why saving failed', async () => {
    await go('/vault/new');
    await page.getByLabel('Name').fill('too-large');
    const file = page.getByLabel('Or read it from a file');
    await file.setInputFiles({ name: 'huge.p12', mimeType: 'application/x-pkcs12', buffer: Buffer.alloc(2 ** 20 + 1) });
    await page.getByRole('alert').getByText('Values can be at most 1 MiB; “huge.p12” is larger.').waitFor();
    await file.setInputFiles({ name: 'large.p12', mimeType: 'application/x-pkcs12', buffer: Buffer.alloc(2 ** 20) });
    await page.getByText('1048576 bytes of “large.p12”').waitFor();
    await page.getByLabel('Encrypt it to my own key too').uncheck();
    await button('Save secret').click();
    await page.getByRole('alert').getByText('Choose at least one recipient').waitFor();
    await page.getByLabel('acme/shop').check();
    await button('Save secret').click();
    await page.getByRole('alert').getByText('Encrypted values can be at most 1 MiB').waitFor();
    await page.getByLabel('Name').fill('db-password');
    await button('Type the value instead').click();
    await page.getByLabel('Value', { exact: true }).fill('x');
    await button('Save secret').click();
    await page.getByRole('alert').getByText('A secret with this name already exists.').waitFor();
    expect(stage.takeComplaints()).toEqual(['409 POST /secrets/objects']);
    await expectAccessible(page);
  });

  test('a secret is found, renamed and deleted', async () => {
    await go('/vault');
    await page.getByLabel('Search names').fill('PASS');
    await said('1 of 2 shown');
    await page.getByRole('link', { name: 'db-password' }).click();
    await page.getByText('Rename', { exact: true }).first().click();
    await page.getByLabel('New name').fill('shop_password-2');
    await button('Rename').click();
    await page.getByRole('heading', { name: 'shop_password-2', level: 1 }).waitFor();
    await acts.visit('not-mine');
    await acts.confirm('Delete not-mine', 'Delete permanently');
    await said('Secret “not-mine” deleted.');
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
  });

  test.each(['consumer', 'write'] as const)('a %s token is created, rotated, revoked and purged', async (kind) => {
    await go('/vault/tokens');
    const part = page.getByRole('region', { name: kind === 'write' ? 'Write tokens' : 'Consumer tokens' });
    if (kind === 'consumer') await part.getByRole('textbox', { name: 'Consumer' }).fill('acme/shop');
    await part.getByLabel('Description').fill('deploy');
    await part.getByRole('button', { name: `Create ${kind} token` }).click();
    const shown = part.getByLabel('New token. Copy it now');
    await shown.waitFor();
    const first = await shown.inputValue();
    const status = (token: string) =>
      page.evaluate(
        async (sent) =>
          (
            await fetch('/secrets/objects/shop_password-2', {
              headers: { Authorization: `Bearer ${sent}` },
              credentials: 'omit',
            })
          ).status,
        token,
      );
    expect(first).toMatch(kind === 'write' ? /^trs_/ : /^trc_/);
    expect(await status(first)).toBe(200);
    await expectAccessible(page);
    await acts.confirm('Rotate deploy', 'Rotate token');
    await page.waitForFunction(
      (old) => [...document.querySelectorAll('input')].every((field) => field.value !== old),
      first,
    );
    const second = await shown.inputValue();
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    await acts.confirm('Revoke deploy', 'Revoke token');
    await part.getByText('1 revoked', { exact: true }).waitFor();
    expect(await status(second)).toBe(401);
    await acts.confirm('Purge deploy', 'Purge token');
    await part.getByText('No tokens').waitFor();
    expect(stage.takeComplaints()).toEqual(Array<string>(2).fill('401 GET /secrets/objects/shop_password-2'));
    expect(stage.server.output()).not.toContain(second);
  });

  test('a write token is limited, and its denied requests appear in the audit log', async () => {
    await go('/vault/tokens');
    const part = page.getByRole('region', { name: 'Write tokens' });
    await part.getByLabel('Description').fill('limited');
    await part.getByText('Limits', { exact: true }).click();
    await part.getByLabel('Delete secrets').uncheck();
    await part.getByLabel('Only names that start with').fill('shop');
    await part.getByLabel('Only from these IP addresses').fill('127.0.0.0/8, ::1');
    await part.getByRole('button', { name: 'Create write token' }).click();
    await part.getByText('may list, read, write · names shop… · from 127.0.0.0/8, ::1').waitFor();
    await expectAccessible(page);
    const token = await part.getByLabel('New token. Copy it now').inputValue();
    const remove = (sent: string) =>
      page.evaluate(
        async (value) =>
          (
            await fetch('/secrets/objects/shop_password-2', {
              method: 'DELETE',
              headers: { Authorization: `Bearer ${value}` },
              credentials: 'omit',
            })
          ).status,
        sent,
      );
    expect(await remove(token)).toBe(403);
    stage.takeComplaints();
    await go('/vault/audit');
    await page.getByLabel('Subject').selectOption('Denied requests');
    await page.getByText('deleteObject: shop_password-2 (not permitted)').waitFor();
    await go('/vault/tokens');
    await acts.confirm('Revoke limited', 'Revoke token');
    await acts.confirm('Purge limited', 'Purge token');
  });

  test('a request of a command line is denied, and a second one approved with a passkey', async () => {
    const body = JSON.stringify({ client_id: 'test', scope: 'list', device_name: 'ada@<b>laptop</b>' });
    const headers = { 'content-type': 'application/json' };
    const begin = async (): Promise<string> => {
      const answer = await fetch(`${stage.server.origin}/secrets/auth/device`, { method: 'POST', headers, body });
      return ((await answer.json()) as { readonly user_code: string }).user_code;
    };
    const enter = async (code: string) => {
      await page.getByLabel('Code', { exact: true }).fill(code);
      await button('Continue').click();
    };
    await go('/vault/device');
    await enter('BBBB-BBBB');
    await page.getByText('No open request has this code.').waitFor();
    stage.takeComplaints();
    await expectAccessible(page);
    await enter(await begin());
    await button('Deny').click();
    await said('Denied. The command line receives no token.');
    await enter((await begin()).toLowerCase());
    await page.getByText('ada@<b>laptop</b>').waitFor();
    await page.getByText('127.0.0.1').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Description of the token').fill('command line');
    await page.getByLabel('Only names that start with').fill('shop-');
    await button('Approve with passkey').click();
    await said('Approved.');
    await go('/vault/tokens');
    await page.getByText('may list · names shop-…').waitFor();
    await acts.confirm('Revoke command line', 'Revoke token');
    await acts.confirm('Purge command line', 'Purge token');
  });

  test('values are signed by the key of the browser, also restored and renamed ones', async () => {
    await go('/vault/writers');
    await page.getByLabel('Name of the key').fill('Laptop');
    await expectAccessible(page);
    await button('Create signing key').click();
    await said('Signing key created.');
    await page.getByText(/^Laptop \(SHA256:.*signs the values/).waitFor();
    const [key = ''] = /ssh-ed25519 \S+(?=')/.exec(await page.locator('pre').innerText()) ?? [];
    await acts.createSecret({ slug: 'signed', value: 'first', usedBy: ['acme/shop'] });
    await signature().getByText('Signed by Laptop').waitFor();
    await button('Verify the value of signed').click();
    await signature().getByText('The value is the signed one.').waitFor();
    await expectAccessible(page);
    await page.locator('summary').getByText('Rename').click();
    await page.getByLabel('New name').fill('signed-again');
    await button('Rename').click();
    await page.getByRole('heading', { name: 'signed-again', level: 1 }).waitFor();
    await signature().getByText('Signed by Laptop').waitFor();
    await page.getByText('Replace value').click();
    await page.getByLabel('New value', { exact: true }).fill('second');
    await button('Save new value').click();
    await said(/^Value of “signed-again” replaced/);
    await acts.confirm('Restore version 1', 'Restore this version');
    await said('Version 1 of “signed-again” restored.');
    await signature().getByText('Signed by Laptop').waitFor();
    // A reader of the library that trusts only the key of the browser accepts the value.
    const { bytes, text, id } = await readSigned('signed-again');
    const known = { ...NO_KNOWN_KEYS, writers: { [key]: ['signed*'] } };
    const checked = checkValue({ slug: 'signed-again', id, sealed: bytes, signature: text }, { known });
    expect((await checked).statement?.version).toBe(3);
    await expect(
      page.evaluate(async () => {
        const opening = indexedDB.open('trellis-signing');
        const database = await new Promise<IDBDatabase>((resolve) => {
          opening.onsuccess = () => resolve(opening.result);
        });
        const reading = database.transaction('keys').objectStore('keys').get('own');
        const pair = await new Promise<CryptoKeyPair>((resolve) => {
          reading.onsuccess = () => resolve(reading.result as CryptoKeyPair);
        });
        return crypto.subtle.exportKey('pkcs8', pair.privateKey);
      }),
    ).rejects.toThrow('not extractable');
  });

  test('a value that a different writer or no writer has signed is not shown, until its writer signs it', async () => {
    const mallory = parseSigningKey(generateSigningKey());
    const recipients = [shop.recipient];
    const sealed = await seal('forged', recipients);
    const forge = async (slug: string, signer?: Signer) => {
      const { id, version } = await readSigned(slug);
      const signed = signer && (await signValue(signer, { slug, id, version: version + 1, sealed, recipients }));
      const body = { value: Buffer.from(sealed).toString('base64'), recipients, ...(signed && { signature: signed }) };
      const status = await page.evaluate(
        async ([path, text]) => {
          const headers = { 'content-type': 'application/json' };
          return (await fetch(path!, { method: 'PUT', body: text!, headers })).status;
        },
        [`/secrets/objects/${slug}`, JSON.stringify(body)],
      );
      expect(status).toBe(200);
    };
    await forge('signed-again', mallory);
    await acts.visit('signed-again');
    await signature().getByText('this browser trusts a different one for this name').waitFor();
    await expectAccessible(page);
    await button('Show value').click();
    await usePasted(shop.identity);
    await page.getByRole('alert').getByText('is signed by a key that is not trusted').waitFor();
    await forge('signed-again');
    await acts.visit('signed-again');
    await signature().getByText('Not signed, although this browser trusts a writer').waitFor();
    await acts.confirm('Sign signed-again', 'Sign the stored value');
    await said('Value of “signed-again” signed.');
    await signature().getByText('Signed by Laptop').waitFor();

    // The version that was forged can be trusted, and the writer is then in the list.
    await acts.confirm('Trust the writer of version 4', 'Trust this writer');
    await said('The writer of version 4 is trusted now.');
    await go('/vault/writers');
    await page.getByText('Unnamed writer').waitFor();
    await expectAccessible(page);
    const unnamed = page.getByRole('listitem').filter({ hasText: 'Unnamed writer' });
    await pressAndConfirm(unnamed.getByRole('button'), 'Trust no longer');
    await said('is no longer trusted.');
    await acts.confirm('Delete signing key', 'Delete signing key');
    await button('Create signing key').waitFor();
  });

  test('the audit log is filtered and verified', async () => {
    await go('/vault/audit');
    const rows = page.getByRole('table').getByRole('row');
    await rows.nth(1).waitFor();
    await page.getByLabel('Subject').selectOption('Owner key');
    await said('2 of 2 shown');
    await eventually(async () => expect(await rows.nth(2).textContent()).toMatch(/create.*owner key age1.*owner/));
    await page.getByLabel('Subject').selectOption('All');
    const search = page.getByRole('search');
    await search.getByLabel(/^Secret/).selectOption('not-mine');
    await page.getByRole('row', { name: /delete not-mine owner/ }).waitFor();
    await search.getByLabel(/^Actor/).selectOption('owner');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No matching entries.').waitFor();
    await button('Clear').click();
    await rows.nth(1).waitFor();
    const download = page.waitForEvent('download');
    await button('Export as CSV').click();
    const exported = parse<Readonly<Record<string, string>>>(await readDownload(await download), { columns: true });
    expect(exported.find(({ subject_id: id }) => id === 'deleteObject')).toMatchObject({ names: 'shop_password-2' });
    const stored = exported.find(({ signer }) => signer !== '');
    expect(stored?.signer).toMatch(/^SHA256:/);
    expect(stored?.recipients).toMatch(/^SHA256:\S+(?: SHA256:\S+)*$/);
    await button('Verify log').click();
    await said(/All \d+ entries are unchanged/);
    await expectAccessible(page);
  });

  test('the audit log opens with a filter that no entry matches, and without days that are not valid', async () => {
    await go('/vault/audit?objectId=gone&actor=token%3A7&caller=nobody&from=2026-99-01&to=soon');
    await page.getByText('No matching entries.').waitFor();
    const search = page.getByRole('search');
    const fields = [/^Secret/, /^Actor/, /^Caller/, /^From/, /^To/].map((label) => search.getByLabel(label));
    const values = () => Promise.all(fields.map((field) => field.inputValue()));
    await eventually(async () => expect(await values()).toEqual(['gone', 'token:7', 'nobody', '', '']));
    await button('Clear').click();
    await page.getByRole('table').getByRole('row').nth(1).waitFor();
  });

  test('the audit log is verified after the entry that the browser verified before was archived', async () => {
    await go('/vault/audit');
    await button('Verify log').click();
    await said(/^All \d+ entries are unchanged\.$/);
    const archived = 'Expected entries to be at least 40, as earlier entries are archived; received 12.';
    await page.route('**/secrets/audit-log/verify?entries=*', (route) =>
      route.fulfill({ status: 400, json: { error: archived, code: 'invalid_input', field: 'entries' } }),
    );
    await button('Verify log').click();
    await said(/^All \d+ entries are unchanged\. The last entry that this browser verified before is no longer/);
    await page.unrouteAll({ behavior: 'wait' });
    // From now on, it compares the newest entry.
    await button('Verify log').click();
    await said(/^All \d+ entries are unchanged\.$/);
    expect(stage.takeComplaints()).toEqual(['400 GET /secrets/audit-log/verify']);
  });

  test('a value is hidden after a minute', async () => {
    // Applies to pages that are loaded from here on.
    await page.clock.install();
    await acts.visit('shop_password-2');
    await button('Show value').click();
    await usePasskey();
    await value('shop_password-2').waitFor();
    await expectAccessible(page);
    await page.clock.fastForward(MINUTE_MS);
    await value('shop_password-2').waitFor({ state: 'detached' });
  });
});
