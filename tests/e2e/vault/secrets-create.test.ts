import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { spawnNode } from '../../child-process.js';
import { eventually } from '../../eventually.js';
import { ageValue } from '../../secrets/age-files.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openPageFixture, type PageFixture } from '../support/fixtures.js';
import { readExports } from '../support/page-actions.js';
import { createSecretsPageActions, type SecretsPageActions } from './secrets-page-actions.js';

const MINUTE_MS = 60_000;

/** Values that occur nowhere else. */
const MARKERS = ['marker-51d0-first', 'marker-8c2e-mail', 'marker-77aa-env'] as const;

// The tests build on each other: an owner without a key stores the first secrets.
describeInBrowser('creating and importing secrets', () => {
  let stage: PageFixture;
  let page: Page;
  let acts: SecretsPageActions;

  beforeAll(async () => {
    stage = await openPageFixture({ services: 'dashboard,secrets' });
    page = stage.page;
    acts = createSecretsPageActions(page, stage.server.origin);
  });
  afterAll(() => stage.close());
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
    expect(stage.requests.filter((request) => MARKERS.some((marker) => request.includes(marker)))).toEqual([]);
  });

  const button = (name: RegExp | string): Locator => page.getByRole('button', { name, exact: true });
  const go = (path: string) => page.goto(stage.server.origin + path);
  const said = (words: RegExp | string) => page.getByRole('status').getByText(words).last().waitFor();
  const readClipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  const usePasskey = () => button(/^Use the passkey “First passkey”/).click();

  test('a secret for a new program is read by the command line with the commands that the page shows', async () => {
    await go('/vault/new');
    await page.getByLabel('Name', { exact: true }).fill('api-key');
    await page.getByLabel('Value', { exact: true }).fill(MARKERS[0]);
    await page.getByLabel('Program or host').fill('acme/shop');
    await page.getByRole('checkbox', { name: 'Encrypt it to my own key too', checked: false }).waitFor();
    await button('Save secret').click();
    await page.getByRole('heading', { name: 'Use it in a program' }).waitFor();
    await expectAccessible(page);
    await button('Copy the commands').click();
    const commands = await readClipboard();
    const env = readExports(commands);
    expect(Object.keys(env)).toHaveLength(3);
    expect(commands).toMatch(/^trellis secrets run -- printenv API_KEY$/m);
    const child = spawnNode(['dist/cli.js', 'secrets', 'run', '--', 'printenv', 'API_KEY'], {
      env: { PATH: process.env.PATH, ...env },
    });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect([output, errors]).toEqual([`${MARKERS[0]}\n`, '']);
    // The private key of the program is never sent.
    expect(stage.requests.filter((request) => request.includes('AGE-SECRET-KEY'))).toEqual([]);
    expect(JSON.parse(await acts.fetchText('/secrets/auth/identity'))).toEqual({});
  });

  test('a new program gets one key pair and one token although responses are lost', async () => {
    const problem = () => page.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await go('/vault/new');
    await page.getByLabel('Name', { exact: true }).fill('queue-key');
    await page.getByLabel('Value', { exact: true }).fill(MARKERS[1]);
    await page.getByText('Give a new program access').click();
    await page.getByLabel('Program or host').fill('acme/mail');
    await page.route('**/secrets/consumers', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button('Save secret').click();
    await problem();
    await page.unroute('**/secrets/consumers');
    // The server no longer knows the key of the first attempt.
    const late = { 'idempotency-key': 'a-later-attempt' };
    await page.route('**/secrets/consumers', (route) =>
      route.request().method() === 'POST'
        ? route.continue({ headers: { ...route.request().headers(), ...late } })
        : route.continue(),
    );
    await page.route('**/secrets/objects', (route) => route.abort());
    await button('Save secret').click();
    await page.waitForRequest('**/secrets/objects');
    await problem();
    await page.unrouteAll({ behavior: 'wait' });
    await button('Save secret').click();
    await page.getByRole('heading', { name: 'Use it in a program' }).waitFor();
    const tokens = await page.request.get(`${stage.server.origin}/secrets/consumer-tokens`);
    const all = (await tokens.json()) as readonly { readonly consumer: string }[];
    expect(all.filter(({ consumer }) => consumer === 'acme/mail')).toHaveLength(1);
    expect(stage.takeComplaints()).toEqual(['409 POST /secrets/consumers']);
  });

  test('the first secret without another reader creates the key of the owner in the same flow', async () => {
    await go('/vault/new');
    await page.getByLabel('Name', { exact: true }).fill('mail-key');
    await page.getByLabel('Value', { exact: true }).fill(MARKERS[1]);
    await page.getByRole('checkbox', { name: 'Encrypt it to my own key too', checked: true }).waitFor();
    await button('Save secret').click();
    await page.getByText('Nothing has been saved yet.').waitFor();
    await expectAccessible(page);
    await button('Back to the form').click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('mail-key');
    await button('Save secret').click();
    await button('Create my key').click();
    const list = page.getByRole('list', { name: 'Recovery phrase' });
    await list.waitFor();
    const words = await list.getByRole('listitem').allTextContents();
    await button('I have written it down').click();
    const asked = page.getByLabel(/^Word \d+$/);
    await eventually(async () => expect(await asked.count()).toBe(2));
    for (const label of await page.getByText(/^Word \d+$/).allTextContents()) {
      await page.getByLabel(label, { exact: true }).fill(words[Number(label.slice(5)) - 1]!);
    }
    await button('Continue').click();
    await usePasskey();
    await page.getByRole('heading', { name: 'mail-key', level: 1 }).waitFor();
    const reader = page.getByRole('table', { name: 'Readers' }).getByRole('row', { name: /^You/ });
    await reader.getByText(/^SHA256:[A-Za-z0-9+/]{43}$/).waitFor();
    await reader.getByText('can read it').waitFor();
  });

  test('a value is copied without being shown, and leaves the clipboard after a minute', async () => {
    await page.clock.install();
    await acts.visit('mail-key');
    await button('Copy without showing').click();
    await usePasskey();
    await said('The value of “mail-key” is in the clipboard.');
    expect(await readClipboard()).toBe(MARKERS[1]);
    expect(await page.getByText(MARKERS[1]).count()).toBe(0);
    await expectAccessible(page);
    await page.clock.fastForward(MINUTE_MS);
    await said('The value of “mail-key” is no longer in the clipboard.');
    await eventually(async () => expect(await readClipboard()).toBe(''));

    await button('Copy without showing').click();
    await button('Clear clipboard').waitFor();
    await page.evaluate(() => navigator.clipboard.writeText('copied later'));
    await page.clock.fastForward(MINUTE_MS);
    await button('Clear clipboard').waitFor({ state: 'detached' });
    expect(await readClipboard()).toBe('copied later');
  });

  test('a clipboard that the browser does not allow is reported, and the next press copies without another passkey', async () => {
    const permit = async (permissions: readonly string[]): Promise<void> => {
      await stage.context.clearPermissions();
      await stage.context.grantPermissions([...permissions], { origin: stage.server.origin });
    };
    const refused = () =>
      page.getByRole('alert').getByText('The browser did not allow access to the clipboard.').last().waitFor();
    await go('/vault/new');
    await page.getByLabel('Value', { exact: true }).fill(MARKERS[0]);
    await permit(['clipboard-read']);
    await button('Copy without showing').click();
    await refused();
    await acts.visit('mail-key');
    await button('Copy without showing').click();
    await usePasskey();
    await refused();
    await permit(['clipboard-read', 'clipboard-write']);
    await button('Copy without showing').click();
    await said('The value of “mail-key” is in the clipboard.');
    expect(await readClipboard()).toBe(MARKERS[1]);
    expect(await page.getByText('The browser did not allow access').count()).toBe(0);
  });

  test('a value is generated with the chosen length and characters', async () => {
    await go('/vault/new');
    await page.getByText('Generate a value').click();
    await page.getByText('190 bits of entropy: 32 of 62 characters').waitFor();
    await page.getByLabel('Length').fill('8');
    await page.getByText('Choose at least 80 bits.').waitFor();
    await page.getByLabel('Length').fill('7');
    await page.getByText('Expected a length from 8 to 256.').waitFor();
    await page.getByLabel('Length').fill('20');
    await page.getByLabel('a–z', { exact: true }).uncheck();
    await page.getByLabel('A–Z', { exact: true }).uncheck();
    await page.getByLabel('Symbols').check();
    await page.getByText('104 bits of entropy: 20 of 37 characters').waitFor();
    await button('Generate').click();
    await said('Generated a value of 20 characters.');
    const value = await page.getByLabel('Value', { exact: true }).inputValue();
    expect(value).toMatch(/^[^A-Za-z\s]{20}$/);
    await button('Copy without showing').click();
    await eventually(async () => expect(await readClipboard()).toBe(value));
    await expectAccessible(page);
  });

  test('a .env file is previewed, compared and imported; nothing is sent before', async () => {
    await go('/vault/import');
    const count = stage.requests.length;
    const lines = [
      '# shop',
      `DB_PASSWORD="${MARKERS[2]}"`,
      `mail-key=${MARKERS[1]}`,
      'api-key=changed',
      '_PRIVATE=1',
      'no',
      'COLOR=#f00',
    ];
    await page.getByLabel('Variables', { exact: true }).fill(lines.join('\n'));
    await said('1 new, 2 existing, 2 invalid');
    await page.getByText('This line sets no variable: 6.').waitFor();
    await page.getByText('Without quotes, a # ends the value of COLOR.').waitFor();
    const row = (name: string) => page.getByRole('row', { name });
    await row('_PRIVATE').getByText('invalid').waitFor();
    await expectAccessible(page);
    const posts = stage.requests.slice(count).filter((request) => !request.startsWith('GET\n'));
    expect(posts).toEqual([]);
    expect(await page.locator('table').getByText(MARKERS[2]).count()).toBe(0);

    await button('Compare with stored values').click();
    await usePasskey();
    await row('mail-key').getByText('unchanged').waitFor();
    // The owner can't read this one.
    await row('api-key').getByText('existing').waitFor();
    await page.getByRole('checkbox', { name: 'Save api-key' }).check();
    await button('Save 2 secrets').click();
    await said('2 secrets saved.');
    await acts.visit('DB_PASSWORD');
    await button('Show value').click();
    await usePasskey();
    await page.getByRole('group', { name: 'Value of DB_PASSWORD' }).getByText(MARKERS[2]).waitFor();
    await acts.visit('api-key');
    await page
      .getByRole('table', { name: 'Readers' })
      .getByRole('row', { name: /^acme\/shop can read it/ })
      .waitFor();
  });

  test('a file is read, and a variable that fails leaves the others saved', async () => {
    await go('/vault/import');
    const file = { name: '.env', mimeType: 'text/plain', buffer: Buffer.from('FIRST=1\nMAIL_KEY=2\n') };
    const input = page.getByLabel('Or read them from a file');
    await input.setInputFiles({ ...file, buffer: Buffer.from('A=caf\u00e9\n', 'latin1') });
    await page.getByText('“.env” is not UTF-8 text; convert it first.').waitFor();
    await input.setInputFiles(file);
    await page.getByLabel('Change them to db-password').check();
    await said('1 new, 1 existing');
    await page.getByRole('checkbox', { name: 'Save mail-key' }).check();
    // The preview is open.
    await replaceElsewhere('mail-key');
    await button('Save 2 secrets').click();
    await page.getByRole('alert').getByText('1 of 2 could not be saved.').waitFor();
    await page.getByRole('row', { name: /first/ }).getByText('saved', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'mail-key' }).getByText('was changed in the meantime').waitFor();
    expect(stage.takeComplaints()).toEqual(['412 PUT /secrets/objects/mail-key']);
    await button('Save 1 secret').click();
    await said('2 secrets saved.');
  });

  test('an import continues after the rate limit was exceeded', async () => {
    await go('/vault/import');
    await page.getByLabel('Variables', { exact: true }).fill('LIMITED_1=1\nLIMITED_2=2\n');
    let left = 4;
    await page.route('**/secrets/objects', (route) => {
      if (route.request().method() !== 'POST' || left === 0) return route.continue();
      left -= 1;
      const json = { code: 'rate_limited', error: 'Too many requests.' };
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json });
    });
    await button('Save 2 secrets').click();
    await said('2 secrets saved.');
    await page.unroute('**/secrets/objects');
    expect(stage.takeComplaints()).toEqual(Array.from({ length: 4 }, () => '429 POST /secrets/objects'));
  });

  test('a value that was typed while others replaced the secret is saved at the second attempt', async () => {
    await acts.visit('api-key');
    await page.getByText('Replace value', { exact: true }).click();
    await page.getByLabel('New value').fill('typed');
    await replaceElsewhere('api-key');
    await button('Save new value').click();
    await page.getByRole('alert').getByText('was changed in the meantime').waitFor();
    expect(await page.getByLabel('New value').inputValue()).toBe('typed');
    await button('Save new value').click();
    await said('Value of “api-key” replaced.');
    expect(stage.takeComplaints()).toEqual(['412 PUT /secrets/objects/api-key']);
  });

  /** Replaces the value of a secret as a different client does. */
  async function replaceElsewhere(slug: string): Promise<void> {
    const status = await page.evaluate(async (path) => {
      const value = await (await fetch(path)).arrayBuffer();
      const body = JSON.stringify({ value: btoa(String.fromCharCode(...new Uint8Array(value))) });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(path, { method: 'PUT', body, headers })).status;
    }, `/secrets/objects/${slug}`);
    expect(status).toBe(200);
  }

  test('due work is listed first', async () => {
    const status = await page.evaluate(async () => {
      const get = await (await fetch('/secrets/objects/mail-key')).arrayBuffer();
      const value = btoa(String.fromCharCode(...new Uint8Array(get)));
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ value, slug: 'zz-due-soon', rotate_after_days: 3 });
      return (await fetch('/secrets/objects', { method: 'POST', body, headers })).status;
    });
    expect(status).toBe(201);
    await go('/vault');
    const due = page.getByRole('region', { name: /^Due/ });
    await due.getByRole('link', { name: 'zz-due-soon' }).waitFor();
    await due
      .getByText(/rotation due on/)
      .first()
      .waitFor();
    const first = page.locator('.things li').first();
    await first.getByRole('link', { name: 'zz-due-soon' }).waitFor();
    await expectAccessible(page);
    const headers = { Origin: stage.server.origin };
    for (const [path, data] of [
      ...[1, 2].map(
        (days) => ['objects', { slug: `due-${days}`, value: ageValue(), rotate_after_days: days }] as const,
      ),
      ...[5, 6, 7].map((days) => {
        const token = { consumer: 'acme/shop', description: `of ${days} days`, ttl_seconds: days * 86_400 };
        return ['consumer-tokens', token] as const;
      }),
    ]) {
      const response = await page.request.post(`${stage.server.origin}/secrets/${path}`, { data, headers });
      expect(response.status()).toBe(201);
    }
    await page.reload();
    await due.getByText('and 1 more, which are on the page Tokens').waitFor();
    await expectAccessible(page);
  });

  test('a secret whose response was lost is stored once by the next attempt, and so is its next value', async () => {
    const isChange = (method: string): boolean => ['POST', 'PUT'].includes(method);
    /** Saves a form with lost responses, and saves it again. */
    const saveTwice = async (name: string): Promise<void> => {
      await page.route(/\/secrets\/objects(?:$|\/[\w-]+\?)/, async (route) => {
        if (!isChange(route.request().method())) return route.continue();
        await route.fetch();
        await route.abort();
      });
      await button(name).click();
      await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await button(name).click();
    };
    await go('/vault/new');
    await page.getByLabel('Name', { exact: true }).fill('stored-once');
    await page.getByLabel('Value', { exact: true }).fill(MARKERS[1]);
    await saveTwice('Save secret');
    await page.getByRole('heading', { name: 'stored-once', level: 1 }).waitFor();
    await page.getByText('Replace value', { exact: true }).click();
    await page.getByLabel('New value').fill(MARKERS[1]);
    await saveTwice('Save new value');
    await said('Value of “stored-once” replaced.');
    const versions = await page.request.get(`${stage.server.origin}/secrets/objects/stored-once/versions`);
    expect(await versions.json()).toHaveLength(1);
  });

  test('a new value stays readable by the owner, also if their key could be read only later', async () => {
    await page.route('**/secrets/auth/identity', (route) => route.abort());
    await go('/vault/objects/stored-once');
    await page.getByText('Replace value', { exact: true }).click();
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('checkbox', { name: 'Encrypt it to my own key too', checked: true }).waitFor();
  });

  test('browsers fill in no name or address of the user', async () => {
    for (const path of ['/vault/new', '/vault/consumers', '/vault/tokens', '/settings', '/admin']) {
      await go(path);
      await page.locator('main .field input').first().waitFor({ state: 'attached' });
      const fields = await page.$$eval('main .field input:is([type=text], [type=number], [type=url])', (all) =>
        all.filter((field) => (field as HTMLInputElement).autocomplete !== 'off').map(({ outerHTML }) => outerHTML),
      );
      expect([path, fields]).toEqual([path, []]);
    }
  });

  test('Back shows the same place of a long list', async () => {
    const value = ageValue();
    for (let index = 0; index < 150; index += 1) {
      const response = await page.request.post(`${stage.server.origin}/secrets/objects`, {
        ...{ data: { slug: `other-${index}`, value }, headers: { Origin: stage.server.origin } },
      });
      expect(response.status()).toBe(201);
    }
    await go('/vault');
    await button(/^Show \d+ more$/).click();
    const row = page.getByRole('listitem').getByRole('link', { name: 'other-99', exact: true });
    await row.scrollIntoViewIfNeeded();
    const before = await page.evaluate(() => scrollY);
    expect(before).toBeGreaterThan(0);
    await row.click();
    await page.getByRole('heading', { name: 'other-99', level: 1 }).waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.goBack();
    await eventually(async () => expect(await page.evaluate(() => scrollY)).toBe(before));
    // As by the scroll bar, after the page has noticed in the next frame that it is there.
    await page.evaluate(async () => {
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      scrollTo(0, 10);
    });
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => scrollY)).toBe(10);
    // A link leads to the start of the list.
    await page.getByRole('link', { name: 'Secrets', exact: true }).first().click();
    await page.getByRole('link', { name: 'Issues' }).click();
    await page.getByRole('link', { name: 'Secrets', exact: true }).first().click();
    await row.waitFor({ state: 'detached' });
    await button(/^Show \d+ more$/).waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(0);
  });

  test('a secret that others have deleted is missing on its page', async () => {
    await page.request.post(`${stage.server.origin}/secrets/objects`, {
      ...{ data: { slug: 'deleted-elsewhere', value: ageValue() }, headers: { Origin: stage.server.origin } },
    });
    await acts.visit('deleted-elsewhere');
    await page.getByText('No earlier versions').waitFor();
    const deleted = await page.request.delete(`${stage.server.origin}/secrets/objects/deleted-elsewhere`, {
      headers: { Origin: stage.server.origin },
    });
    expect(deleted.status()).toBe(204);
    await acts.confirm('Delete deleted-elsewhere', 'Delete permanently');
    await page.getByText('No secret with this name.').waitFor();
    expect(stage.takeComplaints()).toEqual(['404 DELETE /secrets/objects/deleted-elsewhere']);
  });

  test('a write token is limited to consumers whose names have spaces, and needs a permission', async () => {
    await go('/vault/tokens');
    const tokens = page.getByRole('region', { name: 'Write tokens' });
    await tokens.getByText('Limits', { exact: true }).click();
    await tokens.getByLabel('Description').fill('limited');
    await tokens.getByLabel('Only secrets of these consumers').fill('build host,  acme/shop ,');
    await button('Create write token').click();
    await tokens.getByText(' · consumers build host, acme/shop').waitFor();
    const listed = JSON.parse(await acts.fetchText('/secrets/tokens')) as readonly { readonly access?: object }[];
    expect(listed.map(({ access }) => access)).toContainEqual({ consumers: ['build host', 'acme/shop'] });
    await tokens.getByLabel('Description').fill('useless');
    for (const box of await tokens.getByRole('group', { name: 'Permissions' }).getByRole('checkbox').all())
      await box.uncheck();
    await button('Create write token').click();
    await page.getByRole('alert').getByText('Select at least one permission.').waitFor();
  });

  test('a secret with many variants shows some of them, and finds that of a consumer', async () => {
    for (let host = 1; host <= 12; host += 1) {
      const data = { slug: 'host-password', value: ageValue(), used_by: [`host-${host}`] };
      const headers = { Origin: stage.server.origin };
      const response = await page.request.post(`${stage.server.origin}/secrets/objects`, { data, headers });
      expect(response.status()).toBe(201);
    }
    const count = stage.requests.length;
    await go('/vault/objects/host-password');
    await said('10 of 12 shown');
    const variants = page.getByRole('region', { name: /^Variant for / });
    await variants.getByRole('heading', { name: 'Recent activity' }).last().waitFor();
    // The lists of a form that is closed are not loaded.
    const lists = stage.requests.slice(count).filter((request) => request.includes('/secrets/consumers?'));
    expect(lists).toEqual([]);
    await page.getByRole('combobox', { name: 'Consumer' }).selectOption('host-9');
    await said('1 of 12 shown');
    await page.getByRole('region', { name: 'Variant for host-9', exact: true }).waitFor();
    await page.getByText('Replace value', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'host-9', checked: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('combobox', { name: 'Consumer' }).selectOption('All');
    await button('Show 2 more').click();
    await eventually(async () => expect(await variants.count()).toBe(12));
  });

  test('names are stored without the white space that was copied with them', async () => {
    await go('/vault/consumers');
    await page.getByLabel('Name', { exact: true }).last().fill(' acme/copied ');
    await button('Add').click();
    await said('Consumer “acme/copied” added.');
    await page.getByLabel('Name', { exact: true }).last().fill('acme//copied');
    await button('Add').click();
    await page
      .getByRole('alert')
      .getByText('“name” contains a character that isn’t allowed, or one in the wrong place.')
      .waitFor();
    await go('/vault/tokens');
    const tokens = page.getByRole('region', { name: 'Consumer tokens' });
    await tokens.getByLabel('Consumer', { exact: true }).fill(' acme/copied ');
    await tokens.getByLabel('Description').fill('of a copied name');
    await button('Create consumer token').click();
    await tokens.getByRole('listitem').filter({ hasText: 'of a copied name' }).getByText('acme/copied').waitFor();
    await go('/vault/new');
    await page.getByLabel('Name', { exact: true }).fill(' copied ');
    await page.getByLabel('Value', { exact: true }).fill(MARKERS[0]);
    await page.getByRole('checkbox', { name: 'Encrypt it to my own key too' }).check();
    await button('Save secret').click();
    await page.getByRole('heading', { name: 'copied', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual(['400 POST /secrets/consumers']);
  });
});
