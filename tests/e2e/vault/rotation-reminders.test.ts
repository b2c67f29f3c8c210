import { join } from 'node:path';
import { seal } from '../../../src/sealing/seal.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { type HttpReceiver, startHttpReceiver } from '../../dashboard/notifications/receivers.js';
import { eventually } from '../../eventually.js';
import { generateKeys } from '../../sealing/age-program.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openSignedInFixture, type PageFixture } from '../support/fixtures.js';

describeInBrowser('reminders of secrets that are due for rotation', () => {
  let receiver: HttpReceiver;
  let stage: PageFixture;

  beforeAll(async () => {
    receiver = await startHttpReceiver();
    const env = { TRELLIS_NOTIFICATION_ALLOW: '127.0.0.0/8' };
    stage = await openSignedInFixture({ services: 'dashboard,secrets', env });
  });
  afterAll(async () => {
    await stage.close();
    await receiver.close();
  });

  /** Sends a request with the session of the owner. */
  async function send(method: string, path: string, data?: unknown): Promise<void> {
    const { origin } = stage.server;
    const headers = { Origin: origin };
    const response = await stage.context.request.fetch(origin + path, { method, headers, data });
    expect([path, response.ok()]).toEqual([path, true]);
  }

  /** Makes the stored values a day older. */
  async function age(): Promise<void> {
    const database = await openDatabase({ file: join(stage.state, 'trellis.db') });
    await database
      .updateTable('secret_objects')
      .set((row) => ({ updated_at: row('updated_at', '-', 86_400_000) }))
      .execute();
    await database.destroy();
  }

  test('the owner selects them for a channel, which then gets the name of a due secret', async () => {
    const { page } = stage;
    const { origin } = stage.server;
    await send('PUT', '/api/notifications', { staleDays: 7, batchMinutes: 0 });
    const channel = { kind: 'webhook', url: receiver.url, label: 'Team', events: ['merged'], digest: false };
    await send('POST', '/api/notifications/channels', channel);
    await page.goto(`${origin}/settings`);
    const section = page.getByRole('region', { name: 'Notifications', exact: true });
    await section.getByText('Rules of Team', { exact: true }).click();
    const team = section.getByRole('listitem').filter({ hasText: 'Rules of Team' });
    await team.getByLabel('A secret is due for rotation, every week').check();
    await expectAccessible(page);
    await team.getByRole('button', { name: 'Save rules' }).click();
    await page.locator('.toast').getByText('Rules saved.').waitFor();

    const { recipient } = generateKeys();
    const value = Buffer.from(await seal('hunter2', [recipient])).toString('base64');
    await send('POST', '/secrets/objects', { slug: 'db-password', value, rotate_after_days: 1 });
    await age();
    await send('POST', '/api/admin/jobs/cleanup');
    await eventually(() => expect(receiver.requests).toHaveLength(1));
    const url = `${origin}/vault/objects/db-password`;
    expect(JSON.parse(receiver.requests[0]!.body.toString())).toMatchObject({
      data: { events: [{ event: 'rotation_due', secret: 'db-password', url }] },
    });
    await page.goto(url);
    await page.getByText(/due since/).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });
});
