import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openSignedInFixture, type PageFixture } from './support/fixtures.js';
import { createKeyboard } from './support/keyboard.js';

const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();

describeInBrowser('API reference', () => {
  let stage: PageFixture;
  let page: Page;

  beforeAll(async () => {
    stage = await openSignedInFixture({ services: 'dashboard,secrets' });
    page = stage.page;
  });
  afterAll(() => stage.close());
  afterEach(() => expect(stage.takeComplaints()).toEqual([]));

  /** Executes an operation with "Try it out" and returns the status and text of the response. */
  async function tryOut(summary: string): Promise<{ status: string; text: string }> {
    const operation = page.locator('.opblock').filter({ has: page.getByText(summary, { exact: true }) });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const response = operation.locator('.live-responses-table tbody .response');
    await response.locator('.highlight-code').first().waitFor();
    const [status, text] = await Promise.all([
      response.locator('.response-col_status').first().textContent(),
      response.locator('.highlight-code').first().textContent(),
    ]);
    return { status: status ?? '', text: text ?? '' };
  }

  async function authorize(scheme: string, token: string): Promise<void> {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const form = page.locator('.auth-container').filter({ hasText: scheme });
    await form.locator('input').fill(token);
    await form.getByRole('button', { name: /^Authorize/ }).click();
    await form.getByRole('button', { name: /^Logout/ }).waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await form.waitFor({ state: 'detached' });
  }

  /** Asserts that the page has not stored the token, and has sent it only to this server. */
  async function expectNotStored(token: string): Promise<void> {
    const stored = await page.evaluate(() =>
      JSON.stringify([localStorage, sessionStorage, document.cookie, location.href]),
    );
    expect(stored).not.toContain(token);
    const sent = stage.requests.filter((request) => request.includes(token));
    expect(sent.every((request) => request.split('\n')[1]?.includes(stage.server.origin))).toBe(true);
    expect(sent.length).toBeGreaterThan(0);
  }

  /** Follows the link of a contract. The tests after it use the page, as drawing a contract takes long. */
  async function follow(link: string, title: string, path: string): Promise<void> {
    await page.getByRole('navigation', { name: 'Contracts' }).getByRole('link', { name: link, exact: true }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByText(path, { exact: true }).first().waitFor();
  }

  test('shows the Dashboard contract without a session', async () => {
    await page.goto(`${stage.server.origin}/docs`);
    await follow('Dashboard', 'Trellis dashboard', '/api/tokens');
  });

  test('leaves optional parameters empty', async () => {
    const operation = page.locator('.opblock').filter({ has: page.getByText('Get a board', { exact: true }) });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    const owner = operation.locator('tr[data-param-name="owner"] input');
    await owner.waitFor();
    expect(await owner.inputValue()).toBe('');
    await operation.locator('.opblock-summary-control').click();
  });

  test('shows a command and a call of the client for an operation, which can be copied', async () => {
    const operation = page.locator('.opblock').filter({ has: page.getByText('Check liveness', { exact: true }) });
    await operation.locator('.opblock-summary-control').click();
    const call = await operation.getByRole('region', { name: 'Example in TypeScript' }).textContent();
    expect(call).toContain("import { getHealth } from 'trellis-client/calls';");
    expect(call).toContain('await getHealth(client)');
    await operation.getByRole('button', { name: 'Copy the curl example' }).click();
    await operation.getByRole('status').getByText('Copied.').waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toHaveProperty('status', 'ok');
    await expectAccessible(page);
    await operation.locator('.opblock-summary-control').click();
  });

  test('executes an operation of the dashboard with an API token', async () => {
    const headers = { Origin: stage.server.origin };
    const data = { label: 'reference', expiresAt: IN_A_WEEK };
    const made = await page.request.post(`${stage.server.origin}/api/tokens`, { headers, data });
    const { token } = (await made.json()) as { token: string };
    await authorize('token', token);
    const { status, text } = await tryOut('Get the signed-in user');
    expect(status).toContain('200');
    expect(text).toContain('"ada"');
    await expectNotStored(token);
    await page.reload();
    await page.locator('.opblock').first().waitFor();
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    expect(await page.getByRole('button', { name: /^Logout/ }).count()).toBe(0);
  });

  test('can be used with the keyboard only', async () => {
    const { press, type, arriveAt, pressOn } = createKeyboard(page);
    await page.goto(`${stage.server.origin}/docs?contract=dashboard`);
    await page.locator('.opblock').first().waitFor();
    await pressOn('button "Authorize"');
    await arriveAt('textbox');
    await type('trl_wrong');
    await press('Enter');
    await page.getByRole('button', { name: /^Logout/ }).waitFor();
    await pressOn('button "Close"');
    await pressOn('/healthz');
    await pressOn('button "Try it out"');
    await pressOn('button "Execute"');
    await page.locator('.live-responses-table .highlight-code').getByText('ok').first().waitFor();
    await expectAccessible(page);
  });

  test('shows the Secrets contract without a session', () => follow('Secrets', 'Trellis secrets', '/audit-log'));

  test('executes an operation of the secrets service with a write token', async () => {
    const headers = { Origin: stage.server.origin };
    const made = await page.request.post(`${stage.server.origin}/secrets/tokens`, {
      headers,
      data: { description: 'reference' },
    });
    const { value } = (await made.json()) as { value: string };
    await authorize('writeToken', value);
    const { status, text } = await tryOut('List secrets');
    expect(status).toContain('200');
    expect(text).toContain('[');
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByRole('button', { name: /^Logout/ }).waitFor();
    await expectAccessible(page);
    await expectNotStored(value);
  });
});
