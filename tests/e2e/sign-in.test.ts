import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { findBun } from '../client/runtimes.js';
import { describeInBrowser } from './support/chromium.js';
import { pressAndConfirm } from './support/page-actions.js';
import { startWatchedServer, type WatchedServer } from './support/test-server.js';
import { addVirtualAuthenticator, type VirtualAuthenticator } from './support/virtual-authenticator.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

const bun = findBun();

/** Bun is optional: the client tests report that it is missing. */
const RUNTIMES: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ['Node', process.execPath, ['--conditions=trellis-source', '--import', 'tsx']],
  ...(bun === undefined ? [] : [['Bun', bun, ['run']] as const]),
];

describeInBrowser('accounts and sign-in', () => {
  let testServer: WatchedServer;
  let context: BrowserContext;
  let page: Page;
  let authenticator: VirtualAuthenticator;
  let linkOfEve: string;

  beforeAll(async () => {
    testServer = await startWatchedServer({ services: 'dashboard' });
  });
  afterAll(() => testServer.close());

  beforeEach(async () => {
    context = await testServer.enter();
    page = await context.newPage();
    authenticator = await addVirtualAuthenticator(page);
  });
  afterEach(async () => {
    await context.close();
    expect(testServer.takeComplaints()).toEqual([]);
  });

  /** Runs a script with a token and returns its parsed output. */
  async function useToken(command: string, args: readonly string[], token: string): Promise<unknown> {
    const script = [...args, 'tests/e2e/support/use-token.ts', testServer.server.origin];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TRELLIS_TOKEN: token };
    const { stdout } = await run(command, script, { cwd: root, env });
    return JSON.parse(stdout);
  }

  /** Creates the account of an invitation in a separate browser with its own authenticator. */
  async function acceptInvitation(link: string): Promise<void> {
    const guest = await testServer.enter();
    const own = await guest.newPage();
    await addVirtualAuthenticator(own);
    await own.goto(link);
    await expect(own.getByLabel('Username', { exact: true }).inputValue()).resolves.toBe('bob');
    await own.getByRole('button', { name: 'Create a passkey' }).click();
    await own.getByRole('heading', { name: 'Pull requests' }).waitFor();
    await expect(own.getByRole('link', { name: 'Admin' }).isVisible()).resolves.toBe(false);
    await guest.close();
  }

  /** Invites a user on the admin page. Returns the link. */
  async function invite(username: string): Promise<string> {
    await page.getByLabel('Username', { exact: true }).fill(username);
    await page.getByLabel('Display name').fill(username);
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = page.getByLabel('Send this link to the new user');
    await page.getByRole('button', { name: `Withdraw the invitation for ${username}` }).waitFor();
    return link.inputValue();
  }

  /** Lets the server receive the next last step of a ceremony, but not the browser its response. */
  const loseResponse = (ceremony: string) =>
    page.route(
      `**/api/auth/${ceremony}/finish*`,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );

  test('the admin creates the first account, signs in again, uses and revokes a token, and invites a user', async () => {
    await page.goto(testServer.setupLink);
    await page.getByLabel('Username', { exact: true }).fill('ada');
    await page.getByLabel('Display name').fill('Ada Lovelace');
    expect(page.url()).toBe(`${testServer.server.origin}/sign-in`);
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByRole('heading', { name: 'Pull requests' }).waitFor();
    expect(await authenticator.count()).toBe(1);

    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByText('Signed in as Ada Lovelace (ada), admin').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await context.cookies()).length).toBe(0);

    await page.goto(`${testServer.server.origin}/settings`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Signed in as Ada Lovelace').waitFor();

    await page.getByLabel('Token name').fill('nightly');
    await page.getByRole('button', { name: 'Create token' }).click();
    const field = page.getByLabel('New token');
    await field.waitFor();
    const token = await field.inputValue();
    expect(token).toMatch(/^trl_[\w-]{43}[0-9A-Za-z]{6}$/);

    for (const [name, command, args] of RUNTIMES) {
      expect(await useToken(command, args, token)).toEqual({ username: 'ada', isBun: name === 'Bun' });
    }

    await pressAndConfirm(page.getByRole('button', { name: 'Revoke nightly' }), 'Revoke token?');
    await page.getByText('Token “nightly” revoked.').waitFor();
    await field.waitFor({ state: 'hidden' });
    for (const [, command, args] of RUNTIMES) {
      const expected = { name: 'ApiError', statusCode: 401, code: 'unauthenticated' };
      expect(await useToken(command, args, token)).toEqual(expected);
    }
    expect(testServer.server.output()).not.toContain(token);

    await page.getByRole('link', { name: 'Admin' }).click();
    // The previous page has fields of the same name and stays until this one is loaded.
    await page.getByRole('heading', { name: 'Admin', level: 1 }).waitFor();
    await acceptInvitation(await invite('bob'));
    linkOfEve = await invite('eve');
  });

  test('a sign-in whose response is lost says so, and can be repeated', async () => {
    await page.goto(linkOfEve);
    await loseResponse('register');
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByText('If you have already used the link, you have an account:').waitFor();
    await loseResponse('login');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Pull requests' }).waitFor();
    testServer.takeComplaints();
  });

  test('a used setup link creates no second account', async () => {
    await page.goto(testServer.setupLink);
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor();
    expect(await authenticator.count()).toBe(0);
  });
});
