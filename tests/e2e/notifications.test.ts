import type { Page } from 'playwright-core';
import {
  type HttpReceiver,
  type MailServer,
  startHttpReceiver,
  startMailServer,
} from '../dashboard/notifications/receivers.js';
import { eventually } from '../eventually.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openForgeFixture, type ForgeFixture } from './support/forge-fixture.js';
import { createKeyboard } from './support/keyboard.js';
import { pressAndConfirm } from './support/page-actions.js';

describeInBrowser('notification settings', () => {
  let mail: MailServer;
  let receiver: HttpReceiver;
  let stage: ForgeFixture;
  let page: Page;

  beforeAll(async () => {
    [mail, receiver] = [await startMailServer(), await startHttpReceiver()];
    const env = {
      TRELLIS_SMTP: mail.url,
      TRELLIS_SMTP_FROM: 'trellis@example.org',
      TRELLIS_NOTIFICATION_ALLOW: '127.0.0.0/8',
    };
    stage = await openForgeFixture({ env });
    ({ page } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(async () => {
    await stage.close();
    await Promise.all([mail.close(), receiver.close()]);
  });

  const visit = async (): Promise<void> => {
    await page.goto(`${stage.server.origin}/settings`);
    await section().getByText('Add a channel').waitFor();
  };
  const section = () => page.getByRole('region', { name: 'Notifications', exact: true });
  const said = (text: string) => page.locator('.toast').getByText(text).last().waitFor();
  const button = (name: string) => section().getByRole('button', { name, exact: true });
  const open = (summary: string) => section().getByText(summary, { exact: true }).click();

  test('adds an e-mail address, confirms it with the code, and sends a test message', async () => {
    await visit();
    await open('Add a channel');
    await section().getByLabel('Address', { exact: true }).fill('mona@example.org');
    await section().getByLabel('Name (optional)').fill('Work');
    await button('Add channel').click();
    await said('Channel added. Enter the code that the address receives.');
    await eventually(() => expect(mail.mails).toHaveLength(1));
    const [, code = ''] = /^([0-9A-Z]{8})\r?$/m.exec(mail.mails[0]!.text) ?? [];
    await section().getByLabel('Code in the e-mail').fill(code);
    await button('Confirm').click();
    await said('Address confirmed.');
    await button('Test: Work').click();
    await said('Test message sent.');
    expect(mail.mails[1]?.text).toContain('Subject: Test message');
    await expectAccessible(page);
  });

  test('adds a Slack channel, changes its rules, and shows why a message failed', async () => {
    await visit();
    await open('Add a channel');
    await section().getByLabel('Send to').selectOption('Slack or Mattermost');
    await section().getByLabel('URL of the incoming webhook').fill(`${receiver.url}/services/T0/B0/x`);
    await section().getByLabel('Name (optional)').fill('Team');
    await button('Add channel').click();
    await said('Channel added.');
    await open('Add a channel');
    await open('Rules of Team');
    const team = section().getByRole('listitem').filter({ hasText: 'Rules of Team' });
    await team.getByLabel('A pull request that needs you has had no activity for days').check();
    await button('Save rules').click();
    await said('Rules saved.');
    receiver.response = { status: 404, body: 'no_service' };
    await button('Test: Team').click();
    await said('The address responded with status 404 (no_service).');
    await open('Recent messages');
    await section().getByText('The address responded with status 404 (no_service).').waitFor();
    await expectAccessible(page);
    await pressAndConfirm(button('Delete channel Team'), 'Delete channel?');
    await said('Channel “Team” deleted.');
  });

  test('keeps the secret of a webhook on the page while further channels are added', async () => {
    await visit();
    await open('Add a channel');
    const channels = [
      ['Webhook (JSON)', 'URL'],
      ['Slack or Mattermost', 'URL of the incoming webhook'],
    ] as const;
    for (const [kind, field] of channels) {
      await section().getByLabel('Send to').selectOption(kind);
      await section().getByLabel(field, { exact: true }).fill(`${receiver.url}/new`);
      await section().getByLabel('Name (optional)').fill(`New ${kind}`);
      await button('Add channel').click();
      await button(`Delete channel New ${kind}`).waitFor();
    }
    expect(await section().getByLabel('Secret of the webhook.').inputValue()).toMatch(/^whsec_/);
    for (const [kind] of channels) {
      await pressAndConfirm(button(`Delete channel New ${kind}`), 'Delete channel?');
      await said(`Channel “New ${kind}” deleted.`);
    }
  });

  test('adds a channel, changes its rules and deletes it with the keyboard only', async () => {
    const { tabTo, type, press, pressOn, confirm } = createKeyboard(page);
    await visit();
    await pressOn('Add a channel');
    await tabTo('combobox "Send to"');
    await page.keyboard.type('Slack');
    await tabTo('textbox "URL of the incoming webhook"');
    await type(`${receiver.url}/services/T0/B0/y`);
    await tabTo('textbox "Name (optional)"');
    await type('Keys');
    await pressOn('button "Add channel"');
    await said('Channel added.');
    await pressOn('Rules of Keys');
    await tabTo('checkbox "A pull request that needs you has had no activity for days"');
    await press('Space');
    await pressOn('button "Save rules"');
    await said('Rules saved.');
    await confirm('button "Delete channel Keys"');
    await said('Channel “Keys” deleted.');
  });

  test('saves quiet hours and the digest', async () => {
    await visit();
    await open('Quiet hours, digest and batches');
    await section().getByLabel('Quiet hours: nothing is sent, and events wait').check();
    await section().getByLabel('From', { exact: true }).fill('21:15');
    await section().getByLabel('Digest of the pull requests that wait for you').check();
    await section().getByLabel('Monday').uncheck();
    await button('Save times').click();
    await said('Notification times saved.');
    await visit();
    await open('Quiet hours, digest and batches');
    expect(await section().getByLabel('From', { exact: true }).inputValue()).toBe('21:15');
    expect(await section().getByLabel('Monday').isChecked()).toBe(false);
    expect(await section().getByLabel('Tuesday').isChecked()).toBe(true);
    await expectAccessible(page);
  });

  test('the service worker shows a notification, and replaces it by a repeated one', async () => {
    await page.context().grantPermissions(['notifications'], { origin: stage.server.origin });
    await visit();
    const session = await page.context().newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const [one] = registrations;
        if (one !== undefined) resolve(one.registrationId);
      });
    });
    await session.send('ServiceWorker.enable');
    await page.evaluate(async () => {
      await navigator.serviceWorker.register('/push-worker.js');
      const { active } = await navigator.serviceWorker.ready;
      // A worker is ready before it is activated.
      while (active?.state === 'activating') await new Promise((resolve) => setTimeout(resolve, 10));
    });
    const registrationId = await registered;
    const message = {
      id: 'd1',
      title: 'Review requested: acme/shop #17',
      body: 'Round taxes',
      url: 'https://github.com/',
    };
    const deliver = async (data: object): Promise<void> => {
      const { origin } = stage.server;
      await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(data) });
    };
    const shown = () =>
      page.evaluate(async () => {
        const { getNotifications } = await navigator.serviceWorker.ready.then((one) => ({
          getNotifications: () => one.getNotifications(),
        }));
        return (await getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
      });
    /** Chromium reports no failure of a delivery, so it is repeated, as a push service does. */
    const show = async (body: string): Promise<void> =>
      eventually(async () => {
        await deliver({ ...message, body });
        expect(await shown()).toEqual([{ title: message.title, body, tag: 'd1' }]);
      });
    await show('Round taxes');
    await show('again');
  });
});
