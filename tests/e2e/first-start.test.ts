import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { BrowserContext, Page } from 'playwright-core';
import { readPage } from '../project/add-a-service.js';
import { createProject, generateProject } from '../project/run-project.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { createKeyboard, type Keyboard } from './support/keyboard.js';
import { signUp } from './support/sign-up.js';
import { startWatchedServer, type WatchedServer } from './support/test-server.js';
import { addVirtualAuthenticator, type VirtualAuthenticator } from './support/virtual-authenticator.js';

/** A user with a separate browser, a keyboard and an authenticator. */
interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly keyboard: Keyboard;
  readonly device: VirtualAuthenticator;
}

/** An origin without https, where browsers disable passkeys. */
const PLAIN = 'http://trellis.example';

// The tests depend on each other, in the order of the first day of a server.
describeInBrowser('first start and sign-in, with the keyboard only', () => {
  let testServer: WatchedServer;
  let origin: string;
  let ada: Visitor;

  beforeAll(async () => {
    testServer = await startWatchedServer({ services: 'dashboard,secrets', elsewhere: [PLAIN] });
    ({ origin } = testServer.server);
    ada = await meet();
  });
  afterAll(() => testServer.close());
  afterEach(() => {
    expect(testServer.takeComplaints()).toEqual([]);
  });

  async function meet(): Promise<Visitor> {
    const context = await testServer.enter();
    const page = await context.newPage();
    return { page, context, keyboard: createKeyboard(page), device: await addVirtualAuthenticator(page) };
  }

  const heading = ({ page }: Visitor, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const alert = ({ page }: Visitor, text: string) => page.getByRole('alert').getByText(text).waitFor();
  const said = ({ page }: Visitor, text: string) => page.getByRole('status').getByText(text).last().waitFor();

  async function fillIn({ keyboard: { tabTo, type, press } }: Visitor, username: string, name: string): Promise<void> {
    await tabTo('textbox "Username"');
    await type(username);
    await tabTo('textbox "Display name');
    await type(name);
    await press('Enter');
  }

  /** Creates an invitation as Ada and returns its link. */
  async function invite(username: string): Promise<string> {
    const { page, keyboard } = ada;
    await page.goto(`${origin}/admin`);
    await heading(ada, 'Admin');
    await keyboard.tabTo('textbox "Username"');
    await keyboard.type(username);
    await keyboard.press('Tab');
    await keyboard.type(username);
    await keyboard.press('Enter');
    const link = page.getByLabel('Send this link to the new user');
    await link.waitFor();
    return link.inputValue();
  }

  test('without a link, the sign-in page says where to find the setup link', async () => {
    await ada.page.goto(`${origin}/`);
    await heading(ada, 'Sign in');
    await ada.page.getByText('Open the setup link that the server printed when it started.').waitFor();
    await expectAccessible(ada.page);
  });

  test('an invalid setup link creates no account, and the page says what to do', async () => {
    await ada.page.goto(`${origin}/sign-in#setup=wrong`);
    await heading(ada, 'Create the admin account');
    await fillIn(ada, 'ada', 'Ada Lovelace');
    await heading(ada, 'This link has expired');
    expect(await ada.keyboard.focused()).toContain('heading "This link has expired"');
    await ada.page.getByText('the server prints a new link whenever it starts').waitFor();
    await expectAccessible(ada.page);
    expect(await ada.device.count()).toBe(0);
    expect(testServer.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test('after a cancelled passkey request, the form keeps its input and can be sent again', async () => {
    await ada.page.goto(testServer.setupLink);
    await heading(ada, 'Create the admin account');
    await expectAccessible(ada.page);
    await ada.device.setWilling(false);
    await fillIn(ada, 'ada', 'Ada Lovelace');
    await alert(ada, 'The passkey request was cancelled or timed out.');
    await expectAccessible(ada.page);
    await ada.device.setWilling(true);
    await ada.keyboard.pressOn('button "Create a passkey"');
    await heading(ada, 'Services');
    expect(await ada.device.count()).toBe(1);
    expect(ada.page.url()).toBe(`${origin}/services`);
  });

  test('a used setup link is reported before the form is filled in', async () => {
    const eve = await meet();
    await eve.page.goto(testServer.setupLink);
    await heading(eve, 'This link has expired');
    await eve.context.close();
  });

  test('after signing out, a page asks for a sign-in', async () => {
    const { page, keyboard, context } = ada;
    await page.goto(`${origin}/settings`);
    await page.getByText('Signed in as Ada Lovelace (ada), admin').waitFor();
    await keyboard.pressOn('button "Sign out"');
    await heading(ada, 'Sign in');
    expect(await context.cookies()).toEqual([]);
    await page.goto(`${origin}/vault/audit`);
    await page.getByText('To create an account you need an invitation').waitFor();
    await keyboard.pressOn('I lost my passkey');
    await page.getByText('trellis accounts recover').waitFor();
    await expectAccessible(page);
  });

  test('a failed sign-in shows its reason: request cancelled, server unreachable, passkey unknown', async () => {
    const { page, keyboard, device } = ada;
    const tryIt = async (): Promise<void> => {
      await page.reload();
      await page.getByText('To create an account you need an invitation').waitFor();
      await keyboard.pressOn('button "Sign in with a passkey"');
    };
    await device.setWilling(false);
    await tryIt();
    await alert(ada, 'The passkey request was cancelled or timed out.');
    expect(await keyboard.focused()).toContain('button "Sign in with a passkey"');
    await expectAccessible(page);
    await device.setWilling(true);

    await page.route('**/api/auth/login/begin', (route) => route.abort());
    await tryIt();
    await alert(ada, 'The server could not be reached.');
    await page.unroute('**/api/auth/login/begin');

    const mallory = await meet();
    await mallory.device.addUnknown('localhost');
    await mallory.page.goto(`${origin}/sign-in`);
    await mallory.page.getByText('To create an account you need an invitation').waitFor();
    await mallory.keyboard.pressOn('button "Sign in with a passkey"');
    await alert(mallory, 'This passkey was not accepted');
    await mallory.context.close();
    expect(testServer.takeComplaints()).toEqual(['400 POST /api/auth/login/finish']);

    await keyboard.press('Enter');
    await heading(ada, 'Audit log');
    expect(page.url()).toBe(`${origin}/vault/audit`);
  });

  test('a page whose session cannot be loaded is drawn when the server is reachable again', async () => {
    const { page } = ada;
    // Without the database, the document embeds no data.
    await page.route(`${origin}/settings`, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/data-facts="[^"]*"/, 'data-facts=""');
      await route.fulfill({ response, body });
    });
    await page.route('**/api/auth/session', (route) => route.abort());
    await page.goto(`${origin}/settings`);
    await alert(ada, 'The server could not be reached.');
    await expectAccessible(page);
    await page.unrouteAll();
    await page.getByText('Signed in as Ada Lovelace').waitFor();
    await page.goto(`${origin}/sign-in?next=/issues`);
    await heading(ada, 'Issues');
  });

  // Browsers ignore tabs and line breaks in a URL.
  test('a sign-in never leads to a foreign server', async () => {
    const { page } = ada;
    for (const target of [
      '//foreign.example/',
      '/\\foreign.example/',
      '/%09/foreign.example/',
      '/%0A/foreign.example/',
    ]) {
      await page.goto(`${origin}/sign-in?next=${target}`);
      await heading(ada, 'Pull requests');
    }
  });

  test('an invited user creates an account with only a passkey; the invitation works once', async () => {
    const link = await invite('bob');
    const bob = await meet();
    await bob.page.goto(link);
    await heading(bob, 'Create your account');
    const username = bob.page.getByLabel('Username');
    expect([await username.inputValue(), await username.isEditable()]).toEqual(['bob', false]);
    await expectAccessible(bob.page);
    await bob.keyboard.pressOn('button "Create a passkey"');
    await heading(bob, 'Pull requests');
    await bob.page.goto(`${origin}/admin`);
    await bob.page.getByText('Only admins can see this page.').waitFor();
    await bob.context.close();

    const eve = await meet();
    await eve.page.goto(link);
    await heading(eve, 'Create your account');
    await eve.keyboard.pressOn('button "Create a passkey"');
    await heading(eve, 'This link has expired');
    await eve.page.getByText('Ask the admin for a new one for “bob”.').waitFor();
    await eve.context.close();
    expect(testServer.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test.each([
    [
      'was withdrawn',
      async (name: string) => {
        await ada.keyboard.confirm(`button "Withdraw the invitation for ${name}"`);
        await said(ada, `The invitation for ${name} was withdrawn.`);
      },
    ],
    [
      'has expired',
      async () => {
        const database = new DatabaseSync(join(testServer.state, 'trellis.db'), { timeout: 10_000 });
        database.exec('update invitations set expires_at = 1');
        database.close();
      },
    ],
  ])('an invitation that %s creates no account', async (how, end) => {
    const link = await invite(how.replace(/\W/g, '-'));
    await ada.page.reload();
    await heading(ada, 'Admin');
    await end(how.replace(/\W/g, '-'));
    const carol = await meet();
    await carol.page.goto(link);
    await heading(carol, 'Create your account');
    await carol.keyboard.pressOn('button "Create a passkey"');
    await heading(carol, 'This link has expired');
    expect(await carol.device.count()).toBe(0);
    await carol.context.close();
    expect(testServer.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test('a browser without passkeys shows what to do and keeps the link in its address bar', async () => {
    const link = await invite('dan');
    const dan = await meet();
    await dan.page.addInitScript(() => {
      delete (window as { PublicKeyCredential?: unknown }).PublicKeyCredential;
    });
    await dan.page.goto(link);
    await heading(dan, 'This browser doesn’t support passkeys');
    await dan.page.getByText('Open this page in a current Chrome, Edge, Firefox or Safari').waitFor();
    expect(dan.page.url()).toBe(link);
    await expectAccessible(dan.page);
    await dan.context.close();
  });

  test('at a different address of the server, a link leads to the public one and keeps the invitation', async () => {
    const link = await invite('fay');
    const fay = await meet();
    const other = origin.replace('localhost', '127.0.0.1');
    await fay.page.goto(link.replace(origin, other));
    await heading(fay, 'Wrong address');
    await expectAccessible(fay.page);
    expect(new Set(testServer.takeComplaints())).toEqual(new Set([`request to ${other}`]));
    await fay.keyboard.pressOn('link "Continue"');
    await heading(fay, 'Create your account');
    await fay.context.close();
  });

  test('at an address without https, the page says what the operator of the server has to do', async () => {
    const guest = await meet();
    await guest.page.route(`${PLAIN}/**`, async (route) => {
      const response = await route.fetch({ url: route.request().url().replace(PLAIN, origin) });
      const body = (await response.body()).toString().replaceAll(`data-origin="${origin}"`, `data-origin="${PLAIN}"`);
      await route.fulfill({ response, body });
    });
    await guest.page.goto(`${PLAIN}/sign-in`);
    await heading(guest, 'Passkeys need a secure address');
    await guest.page.getByText('The operator of this server has to serve it over').waitFor();
    await expectAccessible(guest.page);
    // At insecure origins, browsers log that they ignore some of our headers.
    for (const complaint of testServer.takeComplaints()) expect(complaint).toMatch(/trustworthy|Origin-Agent-Cluster/);
    await guest.context.close();
  });
});

describeInBrowser('a project with accounts and neither dashboard nor secrets', () => {
  let folder: string;
  let testServer: WatchedServer;
  let invitation = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trellis-project-'));
    const config = await createProject(join(folder, 'my-app'), ['--with', 'accounts']);
    await requireUsers(join(folder, 'my-app'));
    testServer = await startWatchedServer({ args: ['--config', config] });
  });
  afterAll(async () => {
    await testServer.close();
    await rm(folder, { recursive: true });
  });
  afterEach(() => expect(testServer.takeComplaints()).toEqual([]));

  test('the services page links to the contracts of the project', async () => {
    const context = await testServer.enter();
    const page = await context.newPage();
    await page.goto(testServer.server.origin);
    const apis = page.getByRole('region', { name: 'APIs' }).getByRole('listitem');
    await apis.getByText('Greetings contract: OpenAPI 3.1, under /api').waitFor();
    expect(await apis.count()).toBe(2);
    await apis.getByRole('link', { name: 'Greetings contract' }).click();
    await page.getByText('"openapi": "3.1.0"').waitFor();
    await context.close();
  });

  test('the setup link creates the admin account, which can sign out and in again', async () => {
    const context = await testServer.enter();
    const page = await context.newPage();
    await signUp(page, testServer.setupLink, 'ada');
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    expect(await links.allTextContents()).toEqual(['Services', 'Settings', 'Admin']);
    await links.getByText('Settings').click();
    await page.getByText('Signed in as Ada (ada), admin').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    await page.goto(`${testServer.server.origin}/docs`);
    expect(await links.allTextContents()).toEqual(['Services', 'Settings', 'Admin']);
    await page.getByRole('button', { name: 'Search everything' }).waitFor();

    await links.getByText('Admin').click();
    await page.getByLabel('Username', { exact: true }).fill('grace');
    await page.getByLabel('Display name').fill('Grace');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    invitation = await page.getByLabel('Send this link to the new user').inputValue();
    const headings = page.getByRole('heading', { level: 2 });
    expect(await headings.allTextContents()).toEqual(['Users', 'Invitations']);
    await expectAccessible(page);
    await context.close();
  });

  test('an invited user creates a token, with which the operations of the project can be called', async () => {
    const context = await testServer.enter();
    const page = await context.newPage();
    await signUp(page, invitation, 'grace');
    await page.goto(`${testServer.server.origin}/settings`);
    const headings = page.getByRole('heading', { level: 2 });
    await headings.getByText('Sessions').waitFor();
    expect(await headings.allTextContents()).toEqual(['API tokens', 'Passkeys', 'Sessions', 'Appearance']);
    const saved = page.waitForResponse((response) => response.url().endsWith('/api/settings/theme'));
    await page.getByLabel('Dark').check();
    expect((await saved).status()).toBe(200);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await headings.getByText('Sessions').waitFor();
    expect(await page.getByLabel('Dark').isChecked()).toBe(true);
    await page.getByLabel('Token name').fill('script');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = await page.getByLabel('New token').inputValue();
    await expectAccessible(page);
    const greet = async (headers: Record<string, string>) => {
      const response = await fetch(`${testServer.server.origin}/api/Bob`, { headers });
      return { status: response.status, ...((await response.json()) as object) };
    };
    await expect(greet({ Authorization: `Bearer ${token}` })).resolves.toEqual({
      status: 200,
      text: 'Hello, Bob, says Grace!',
    });
    await expect(greet({})).resolves.toMatchObject({ status: 401, code: 'unauthenticated' });
    await context.close();
  });
});

/** Makes the operation of a new project require a user, as docs/accounts.md says, and moves it below `/api`. */
async function requireUsers(project: string): Promise<void> {
  const { files } = await readPage('docs/accounts.md');
  const [contract, handlers] = files;
  const [security = '', responses = '', components = ''] = contract?.text.split(/^ *…\n/mu) ?? [];
  const file = join(project, 'openapi/greetings.yaml');
  const changed = (await readFile(file, 'utf8'))
    .replace('      security: []\n', security)
    .replace('      responses:\n', responses)
    .replace('components:\n', components)
    .replace('url: /greetings', 'url: /api');
  await writeFile(file, changed);
  await writeFile(join(project, handlers?.file ?? ''), handlers?.text ?? '');
  await generateProject(project);
}
