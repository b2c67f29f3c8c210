import type { components } from '../../../src/generated/secrets/types.js';
import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import { openStage, type Stage } from './fixtures.js';

type Request = components['schemas']['KeepIdentityRequest'];

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const OTHER_KEY = 'age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg';

/** Each test uses a separate server, whose owner has no identity. */
export function identityTests(): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.server.close());

  const keep = (body: Request) => stage.client(stage.owner).PUT('/auth/identity', { body });
  const identity = async () => (await stage.client(stage.owner).GET('/auth/identity')).data;

  /** Adds a passkey. @returns its id. */
  async function addPasskey({ cookie }: { readonly cookie: string } = stage.owner): Promise<string> {
    const { passkeys, sessions } = stage.server.accounts;
    const caller = await sessions.findCaller(cookie.split('=')[1]!);
    const passkey = new Passkey(ORIGIN);
    await passkeys.finish(caller, { credential: passkey.create(await passkeys.begin(caller)) }, '192.0.2.7');
    return passkey.id;
  }

  async function listEntries(): Promise<string[]> {
    const query = { subject_type: 'identity' } as const;
    const { data } = await stage.client(stage.owner).GET('/audit-log', { params: { query } });
    return data!.map(({ action, subject_id, actor_id, caller }) => `${action} ${subject_id} by ${actor_id} ${caller}`);
  }

  test('keepIdentity stores the first public key, the first recovery copy and a copy for each passkey, with one audit entry per request', async () => {
    const [first, second] = [await addPasskey(), await addPasskey()];
    const made = { recovery_wrapped_identity: 'by phrase', wrapped_by: [first] };
    const { data } = await keep({
      public_key: KEY,
      recovery_wrapped_identity: 'by phrase',
      credential_id: first,
      wrapped_identity: 'by first',
    });
    expect(data).toEqual({ public_key: KEY, ...made });
    expect(await listEntries()).toEqual([`create ${KEY} by admin undefined`]);
    const added = await keep({ public_key: KEY, credential_id: second, wrapped_identity: 'by second' });
    expect(added.data?.wrapped_by?.toSorted()).toEqual([first, second].toSorted());
    const listed = await stage.client(stage.owner).GET('/credentials');
    const copies = new Map(listed.data!.map(({ id, wrapped_identity }) => [id, wrapped_identity]));
    expect([copies.get(first), copies.get(second)]).toEqual(['by first', 'by second']);
    expect((await listEntries()).slice(1)).toEqual([`update ${KEY} by admin undefined`]);
  });

  test.each<[what: string, Request, number, string | undefined]>([
    ['a repeated request changes nothing', { public_key: KEY, recovery_wrapped_identity: 'x' }, 200, undefined],
    ['a different recovery copy changes nothing', { public_key: KEY, recovery_wrapped_identity: 'y' }, 200, undefined],
    [
      'a different public key is rejected',
      { public_key: OTHER_KEY, recovery_wrapped_identity: 'y' },
      409,
      'public_key',
    ],
    ['an unknown passkey is rejected', { public_key: KEY, credential_id: 'x', wrapped_identity: 'y' }, 404, undefined],
    ['a copy without a passkey is rejected', { public_key: KEY, wrapped_identity: 'y' }, 400, 'credential_id'],
    ['a passkey without a copy is rejected', { public_key: KEY, credential_id: 'x' }, 400, 'wrapped_identity'],
  ])('keepIdentity after the first time: %s', async (_what, body, status, field) => {
    await keep({ public_key: KEY, recovery_wrapped_identity: 'x' });
    const { response, error } = await keep(body);
    expect([response.status, error?.field]).toEqual([status, field]);
    expect(await identity()).toEqual({ public_key: KEY, recovery_wrapped_identity: 'x' });
    expect(await listEntries()).toHaveLength(1);
  });

  test('keepIdentity accepts a later recovery copy, and stores nothing of a rejected request', async () => {
    await keep({ public_key: KEY });
    await keep({ public_key: KEY, recovery_wrapped_identity: 'x', credential_id: 'unknown', wrapped_identity: 'y' });
    expect(await identity()).toEqual({ public_key: KEY });
    await keep({ public_key: KEY, recovery_wrapped_identity: 'x' });
    expect((await identity())?.recovery_wrapped_identity).toBe('x');
    expect(await listEntries()).toEqual([`create ${KEY} by admin undefined`, `update ${KEY} by admin undefined`]);
  });

  test('keepIdentity: returns 400 for an invalid public key', async () => {
    const { response, error } = await keep({ public_key: 'AGE-SECRET-KEY-1X' });
    expect([response.status, error?.field]).toEqual([400, 'public_key']);
    expect(JSON.stringify(error)).not.toContain('AGE-SECRET');
    expect(await identity()).toEqual({});
  });

  test("keepIdentity: returns 404 for a different user's passkey", async () => {
    const stranger = await stage.addStranger();
    const body = { public_key: KEY, credential_id: await addPasskey(stranger), wrapped_identity: 'y' };
    expect((await keep(body)).response.status).toBe(404);
    expect(await identity()).toEqual({});
  });

  test('keepIdentity stores one of two concurrent identities', async () => {
    const answers = await Promise.all([KEY, OTHER_KEY].map((public_key) => keep({ public_key })));
    expect(answers.map(({ response }) => response.status).toSorted()).toEqual([200, 409]);
    const kept = answers.find(({ data }) => data !== undefined)!.data!;
    expect(await identity()).toEqual(kept);
  });
}
