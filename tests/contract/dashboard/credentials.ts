import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import type { Stage } from './fixtures.js';

const addPasskey = async (client: DashboardClient, label: string, key?: string) => {
  const { data: options } = await client.POST('/api/auth/credentials/begin');
  const params = { query: { label }, ...(key === undefined ? {} : { header: { 'Idempotency-Key': key } }) };
  const body = new Passkey(ORIGIN).create(options!);
  return { options: options!, finish: () => client.POST('/api/auth/credentials/finish', { params, body }) };
};

const remove = (client: DashboardClient, id: string) =>
  client.DELETE('/api/auth/credentials/{id}', { params: { path: { id } } });

export function credentialsTests(stage: () => Stage): void {
  const signIn = async () => stage().client(await stage().addUser());

  test('passkeys: are added with labels, and can be removed except for the last one', async () => {
    const client = await signIn();
    const laptop = (await (await addPasskey(client, 'laptop')).finish()).data!;
    const phone = await addPasskey(client, 'phone');
    expect(phone.options.excludeCredentials).toMatchObject([{ id: laptop.id }]);
    expect((await phone.finish()).response.status).toBe(201);
    const { data: listed } = await client.GET('/api/auth/credentials');
    expect(listed?.map(({ label }) => label)).toEqual(['laptop', 'phone']);
    expect((await remove(client, listed![1]!.id)).response.status).toBe(204);
    const { error, response } = await remove(client, laptop.id);
    expect([response.status, error?.code]).toEqual([400, 'invalid_input']);
  });

  const rename = (client: DashboardClient, id: string, label: string) =>
    client.PATCH('/api/auth/credentials/{id}', { params: { path: { id } }, body: { label } });

  test('renameCredential: returns the passkey with its new label', async () => {
    const client = await signIn();
    const { id } = (await (await addPasskey(client, 'laptop')).finish()).data!;
    expect((await rename(client, id, 'old laptop')).data).toMatchObject({ id, label: 'old laptop' });
    expect((await client.GET('/api/auth/credentials')).data).toMatchObject([{ id, label: 'old laptop' }]);
    const { error, response } = await rename(client, id, '  ');
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field: 'label' }]);
  });

  test('renameCredential: returns 404 for a passkey of a different user', async () => {
    const { id } = (await (await addPasskey(await signIn(), 'laptop')).finish()).data!;
    const { error, response } = await rename(await signIn(), id, 'mine');
    expect([response.status, error?.code]).toEqual([404, 'not_found']);
  });

  test('finishCredential: returns the first response for a repeated idempotency key, and rejects other requests with it', async () => {
    const client = await signIn();
    const { finish } = await addPasskey(client, 'laptop', 'k1');
    const { data } = await finish();
    expect((await finish()).data).toEqual(data);
    const { finish: again } = await addPasskey(client, 'laptop', 'k1');
    expect((await again()).error).toMatchObject({ code: 'invalid_input', field: 'Idempotency-Key' });
  });

  test('finishCredential: returns 400 for a challenge of a different user', async () => {
    const { data: options } = await (await signIn()).POST('/api/auth/credentials/begin');
    const init = { params: { query: { label: 'x' } }, body: new Passkey(ORIGIN).create(options!) };
    const { response } = await (await signIn()).POST('/api/auth/credentials/finish', init);
    expect(response.status).toBe(400);
  });

  test('deleteCredential: returns 204 for an unknown id', async () => {
    expect((await remove(await signIn(), 'x')).response.status).toBe(204);
  });
}
