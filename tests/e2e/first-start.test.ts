import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { BrowserContext, Page } from 'playwright-core';
import { expectAccessible } from './axe.js';
import { describeInBrowser } from './chromium.js';
import { openHouse } from './house.js';
import type { House } from './house.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';
import { addVirtualAuthenticator } from './virtual-authenticator.js';
import type { VirtualAuthenticator } from './virtual-authenticator.js';

/** Somebody before a browser of their own, who has a keyboard and a device, and no mouse. */
interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly keyboard: Keyboard;
  readonly device: VirtualAuthenticator;
}

/** Where browsers allow no passkeys. */
const PLAIN = 'http://trellis.example';

// In the order of a server's first day: each goes on from what is there.
describeInBrowser('the first start and signing in, by the keyboard alone', () => {
  let house: House;
  let origin: string;
  let ada: Person;

  beforeAll(async () => {
    house = await openHouse({ services: 'dashboard,secrets', elsewhere: [PLAIN] });
    ({ origin } = house.server);
    ada = await meet();
  });
  afterAll(() => house.close());
  afterEach(() => {
    expect(house.takeComplaints()).toEqual([]);
  });

  async function meet(): Promise<Person> {
    const context = await house.enter();
    const page = await context.newPage();
    return { page, context, keyboard: createKeyboard(page), device: await addVirtualAuthenticator(page) };
  }

  const heading = ({ page }: Person, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const alert = ({ page }: Person, text: string) => page.getByRole('alert').getByText(text).waitFor();
  const said = ({ page }: Person, text: string) => page.getByRole('status').getByText(text).last().waitFor();

  async function fillIn({ keyboard: { tabTo, type, press } }: Person, username: string, name: string): Promise<void> {
    await tabTo('textbox "Username"');
    await type(username);
    await tabTo('textbox "Your name');
    await type(name);
    await press('Enter');
  }

  /** Ada invites somebody; gives the link. */
  async function invite(username: string): Promise<string> {
    const { page, keyboard } = ada;
    await page.goto(`${origin}/admin`);
    await heading(ada, 'Admin');
    await keyboard.tabTo('textbox "Username"');
    await keyboard.type(username);
    await keyboard.press('Tab');
    await keyboard.type(username);
    await keyboard.press('Enter');
    const link = page.getByLabel('Send this link to them');
    await link.waitFor();
    return link.inputValue();
  }

  test('whoever comes without a link is told where the first one is', async () => {
    await ada.page.goto(`${origin}/`);
    await heading(ada, 'Sign in');
    await ada.page.getByText('The link for the first one was printed where this server was started.').waitFor();
    await expectAccessible(ada.page);
  });

  test('a link that does not hold makes no account, and the page says what to do', async () => {
    await ada.page.goto(`${origin}/sign-in#setup=wrong`);
    await heading(ada, 'Make the admin’s account');
    await fillIn(ada, 'ada', 'Ada Lovelace');
    await heading(ada, 'This link doesn’t hold any more');
    expect(await ada.keyboard.focused()).toContain('heading "This link doesn’t hold any more"');
    await ada.page.getByText('the server prints another whenever it is started').waitFor();
    await expectAccessible(ada.page);
    expect(await ada.device.count()).toBe(0);
    expect(house.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test('whoever closes the request for a passkey has lost nothing, and goes on', async () => {
    await ada.page.goto(house.setupLink);
    await heading(ada, 'Make the admin’s account');
    await expectAccessible(ada.page);
    await ada.device.setWilling(false);
    await fillIn(ada, 'ada', 'Ada Lovelace');
    await alert(ada, 'Nothing was done: the passkey request was closed, or took too long.');
    await expectAccessible(ada.page);
    await ada.device.setWilling(true);
    await ada.keyboard.pressOn('button "Create a passkey"');
    await heading(ada, 'Pull requests');
    expect(await ada.device.count()).toBe(1);
    expect(ada.page.url()).toBe(`${origin}/`);
  });

  test('the setup link is of no use a second time, which is said before anything is filled in', async () => {
    const eve = await meet();
    await eve.page.goto(house.setupLink);
    await heading(eve, 'This link doesn’t hold any more');
    await eve.context.close();
  });

  test('who signs out is asked to sign in again, and led to the page that they asked for', async () => {
    const { page, keyboard, context } = ada;
    await page.goto(`${origin}/settings`);
    await page.getByText('Signed in as Ada Lovelace (ada), admin').waitFor();
    await keyboard.pressOn('button "Sign out"');
    await heading(ada, 'Sign in');
    expect(await context.cookies()).toEqual([]);
    await page.goto(`${origin}/vault/audit`);
    await page.getByText('A new account takes an invitation').waitFor();
    await keyboard.pressOn('My passkey is lost');
    await page.getByText('trellis accounts recover').waitFor();
    await expectAccessible(page);
  });

  test('signing in says why it failed: no yes from the device, a server that is away, a passkey of nobody', async () => {
    const { page, keyboard, device } = ada;
    const tryIt = async (): Promise<void> => {
      await page.reload();
      await page.getByText('A new account takes an invitation').waitFor();
      await keyboard.pressOn('button "Sign in with a passkey"');
    };
    await device.setWilling(false);
    await tryIt();
    await alert(ada, 'Nothing was done: the passkey request was closed');
    expect(await keyboard.focused()).toContain('button "Sign in with a passkey"');
    await expectAccessible(page);
    await device.setWilling(true);

    await page.route('**/api/auth/login/begin', (route) => route.abort());
    await tryIt();
    await alert(ada, 'The server could not be reached. Try again.');
    await page.unroute('**/api/auth/login/begin');

    const mallory = await meet();
    await mallory.device.addUnknown('localhost');
    await mallory.page.goto(`${origin}/sign-in`);
    await mallory.page.getByText('A new account takes an invitation').waitFor();
    await mallory.keyboard.pressOn('button "Sign in with a passkey"');
    await alert(mallory, 'That passkey opens no account here');
    await mallory.context.close();
    expect(house.takeComplaints()).toEqual(['400 POST /api/auth/login/finish']);

    await keyboard.press('Enter');
    await heading(ada, 'Audit log');
    expect(page.url()).toBe(`${origin}/vault/audit`);
  });

  test('a page waits for a server that is away, and goes on when it is back', async () => {
    const { page, keyboard } = ada;
    // As the document is while the database is away.
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
    await keyboard.pressOn('button "Try again"');
    await page.getByText('Signed in as Ada Lovelace').waitFor();
    await page.goto(`${origin}/sign-in?next=/issues`);
    await heading(ada, 'Issues');
  });

  test('who is invited makes an account with nothing but a passkey; the link is used up by that', async () => {
    const link = await invite('bob');
    const bob = await meet();
    await bob.page.goto(link);
    await heading(bob, 'Make your account');
    const username = bob.page.getByLabel('Username');
    expect([await username.inputValue(), await username.isEditable()]).toEqual(['bob', false]);
    await expectAccessible(bob.page);
    await bob.keyboard.pressOn('button "Create a passkey"');
    await heading(bob, 'Pull requests');
    await bob.page.goto(`${origin}/admin`);
    await bob.page.getByText('This page is for admins, and you are none.').waitFor();
    await bob.context.close();

    const eve = await meet();
    await eve.page.goto(link);
    await heading(eve, 'Make your account');
    await eve.keyboard.pressOn('button "Create a passkey"');
    await heading(eve, 'This link doesn’t hold any more');
    await eve.page.getByText('Ask the admin for another for “bob”.').waitFor();
    await eve.context.close();
    expect(house.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test.each([
    [
      'was withdrawn',
      async (name: string) => {
        await ada.keyboard.confirm(`button "Withdraw the invitation of ${name}"`);
        await said(ada, `The invitation of ${name} no longer works.`);
      },
    ],
    [
      'has expired',
      async () => {
        const database = new DatabaseSync(join(house.state, 'trellis.db'), { timeout: 10_000 });
        database.exec('update invitations set expires_at = 1');
        database.close();
      },
    ],
  ])('an invitation that %s makes no account', async (how, end) => {
    const link = await invite(how.replace(/\W/g, '-'));
    await ada.page.reload();
    await heading(ada, 'Admin');
    await end(how.replace(/\W/g, '-'));
    const carol = await meet();
    await carol.page.goto(link);
    await heading(carol, 'Make your account');
    await carol.keyboard.pressOn('button "Create a passkey"');
    await heading(carol, 'This link doesn’t hold any more');
    expect(await carol.device.count()).toBe(0);
    await carol.context.close();
    expect(house.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test('a browser without passkeys is told what to do, and the link stays in its address bar', async () => {
    const link = await invite('dan');
    const dan = await meet();
    await dan.page.addInitScript(() => {
      delete (window as { PublicKeyCredential?: unknown }).PublicKeyCredential;
    });
    await dan.page.goto(link);
    await heading(dan, 'This browser can’t use passkeys');
    await dan.page.getByText('Open this page in a current Chrome, Edge, Firefox or Safari').waitFor();
    expect(dan.page.url()).toBe(link);
    await expectAccessible(dan.page);
    await dan.context.close();
  });

  test('another address of the server leads to the one where passkeys hold, with the link', async () => {
    const link = await invite('fay');
    const fay = await meet();
    const other = origin.replace('localhost', '127.0.0.1');
    await fay.page.goto(link.replace(origin, other));
    await heading(fay, 'Another address');
    await expectAccessible(fay.page);
    expect(new Set(house.takeComplaints())).toEqual(new Set([`request to ${other}`]));
    await fay.keyboard.pressOn('link "Go on there"');
    await heading(fay, 'Make your account');
    await fay.context.close();
  });

  test('an address where browsers allow no passkeys says what whoever runs the server has to do', async () => {
    const guest = await meet();
    await guest.page.route(`${PLAIN}/**`, async (route) => {
      const response = await route.fetch({ url: route.request().url().replace(PLAIN, origin) });
      const body = (await response.body()).toString().replaceAll(`data-origin="${origin}"`, `data-origin="${PLAIN}"`);
      await route.fulfill({ response, body });
    });
    await guest.page.goto(`${PLAIN}/sign-in`);
    await heading(guest, 'This address is not safe enough for passkeys');
    await guest.page.getByText('Whoever runs this server has to put it behind').waitFor();
    await expectAccessible(guest.page);
    // Browsers say on the console which of our headers they heed only where an address is safe.
    for (const complaint of house.takeComplaints()) expect(complaint).toMatch(/trustworthy|Origin-Agent-Cluster/);
    await guest.context.close();
  });
});
