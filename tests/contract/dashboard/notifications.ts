import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { type HttpReceiver, startHttpReceiver } from '../../dashboard/notifications/receivers.js';
import type { Stage } from './fixtures.js';

export function notificationsTests(stage: () => Stage): void {
  let receiver: HttpReceiver;
  beforeAll(async () => (receiver = await startHttpReceiver()));
  afterAll(() => receiver.close());

  const signIn = async (): Promise<DashboardClient> => stage().client(await stage().addUser());
  const rules = { label: 'Mine', events: ['merged' as const], digest: false };
  const create = async (client: DashboardClient) => {
    const body = { kind: 'webhook', url: receiver.url, ...rules } as const;
    return (await client.POST('/api/notifications/channels', { body })).data!;
  };
  const of = (id: string) => ({ params: { path: { id } } });

  test('getNotifications: has defaults, and no channels', async () => {
    const { data } = await (await signIn()).GET('/api/notifications');
    expect(data).toEqual({
      ...{ staleDays: 7, batchMinutes: 1, timezone: 'UTC', emailAvailable: true, channels: [] },
      pushPublicKey: expect.stringMatching(/^[\w-]{87}$/) as string,
    });
  });

  test('saveNotifications: replaces the settings', async () => {
    const client = await signIn();
    const quietHours = { from: '22:00', to: '07:00' };
    const saved = await client.PUT('/api/notifications', { body: { quietHours, staleDays: 3, batchMinutes: 0 } });
    expect(saved.data).toMatchObject({ quietHours, staleDays: 3, batchMinutes: 0 });
    const digest = { at: '08:00', weekdays: [1, 5] };
    const { data } = await client.PUT('/api/notifications', { body: { digest, staleDays: 3, batchMinutes: 0 } });
    expect(data).toMatchObject({ digest });
    expect(data).not.toHaveProperty('quietHours');
  });

  test('saveNotifications: returns 400 for a time that does not exist', async () => {
    const body = { quietHours: { from: '24:00', to: '07:00' }, staleDays: 3, batchMinutes: 0 };
    const { response, error } = await (await signIn()).PUT('/api/notifications', { body });
    expect([response.status, error?.field]).toEqual([400, 'quietHours.from']);
  });

  test('saveNotifications: returns 400 for quiet hours that would never end', async () => {
    const body = { quietHours: { from: '08:00', to: '08:00' }, staleDays: 3, batchMinutes: 0 };
    const { response, error } = await (await signIn()).PUT('/api/notifications', { body });
    expect([response.status, error?.field]).toEqual([400, 'quietHours.to']);
  });

  test('channels: are created, changed, tested and deleted', async () => {
    const client = await signIn();
    const { id, secret } = await create(client);
    expect(secret).toMatch(/^whsec_/);
    const changed = { label: 'Team', events: ['stale' as const], digest: true };
    const saved = await client.PUT('/api/notifications/channels/{id}', { ...of(id), body: changed });
    expect(saved.data).toMatchObject({ id, ...changed, state: 'active' });
    const tested = await client.POST('/api/notifications/channels/{id}/test', of(id));
    expect(tested.data).toMatchObject({ kind: 'test', state: 'sent', channel: { id, label: 'Team' } });
    const page = { params: { query: { limit: 1 } } };
    const { data, response } = await client.GET('/api/notifications/deliveries', page);
    expect([data?.[0]?.id, response.headers.get('x-total-count')]).toEqual([tested.data?.id, '1']);
    const remove = () => client.DELETE('/api/notifications/channels/{id}', of(id));
    expect([(await remove()).response.status, (await remove()).response.status]).toEqual([204, 204]);
    expect((await client.GET('/api/notifications')).data?.channels).toEqual([]);
  });

  test("channels: those of other users aren't found", async () => {
    const { id } = await create(await signIn());
    const other = await signIn();
    const results = [
      await other.PUT('/api/notifications/channels/{id}', { ...of(id), body: rules }),
      await other.POST('/api/notifications/channels/{id}/test', of(id)),
      await other.POST('/api/notifications/channels/{id}/confirm', { ...of(id), body: { code: 'x' } }),
    ];
    expect(results.map(({ error }) => error?.code)).toEqual(['not_found', 'not_found', 'not_found']);
  });

  test('createNotificationChannel: returns 400 without the address of its kind, and 409 above 20 channels', async () => {
    const client = await signIn();
    const incomplete = await client.POST('/api/notifications/channels', { body: { kind: 'slack', ...rules } });
    expect([incomplete.response.status, incomplete.error?.field]).toEqual([400, 'url']);
    for (let count = 0; count < 20; count += 1) await create(client);
    const body = { kind: 'webhook', url: receiver.url, ...rules } as const;
    const { error } = await client.POST('/api/notifications/channels', { body });
    expect(error?.code).toBe('conflict');
  });

  test('confirmNotificationChannel: returns 400 for a wrong code, and 409 after ten of them', async () => {
    const client = await signIn();
    const body = { kind: 'email', address: 'mona@example.org', ...rules } as const;
    const { id, state } = (await client.POST('/api/notifications/channels', { body })).data!;
    expect(state).toBe('unconfirmed');
    const guess = () =>
      client.POST('/api/notifications/channels/{id}/confirm', { ...of(id), body: { code: '00000000' } });
    const codes = [];
    for (let tries = 0; tries < 11; tries += 1) codes.push((await guess()).error?.code);
    expect(codes).toEqual([...Array<string>(10).fill('invalid_input'), 'conflict']);
  });

  test('confirmNotificationChannel: confirms a channel that is active already only with its code', async () => {
    const client = await signIn();
    const { id } = await create(client);
    const { toCode } = await import('../../../src/dashboard/notifications/channels.js');
    const { createServerKey } = await import('../../../src/storage/server-key.js');
    const body = { code: toCode(createServerKey('k'.repeat(43)), id) };
    const { data } = await client.POST('/api/notifications/channels/{id}/confirm', { ...of(id), body });
    expect(data).toMatchObject({ id, state: 'active' });
  });
}
