import type { components } from '../../../src/generated/secrets/types.js';
import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

type Request = components['schemas']['KeepIdentityRequest'];

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const OTHER_KEY = 'age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg';

/** Each on a server of its own, where the owner has no identity yet. */
export function identityTests(): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.server.close());

  const keep = (body: Request) => stage.client(stage.owner).PUT('/auth/identity', { body });
  const identity = async () => (await stage.client(stage.owner).GET('/auth/identity')).data;

  /** @returns the id of a passkey that is theirs from now on. */
  async function addPasskey({ cookie }: { readonly cookie: string } = stage.owner): Promise<string> {
    const { passkeys, sessions } = stage.server.accounts;
    const caller = await sessions.findCaller(cookie.split('=')[1]!);
    const passkey = new Passkey(ORIGIN);
    await passkeys.finish(caller, { credential: passkey.create(await passkeys.begin(caller)) }, '192.0.2.7');
    return passkey.id;
  }

  async function acts(): Promise<string[]> {
    const query = { subject_type: 'identity' } as const;
    const { data } = await stage.client(stage.owner).GET('/audit-log', { params: { query } });
    return data!.map(({ action, subject_id, actor_id, caller }) => `${action} ${subject_id} by ${actor_id} ${caller}`);
  }

  test('the first public key, the first phrase and every passkey keep theirs, told in one entry each time', async () => {
    const [first, second] = [await addPasskey(), await addPasskey()];
    const made = { recovery_wrapped_identity: 'by phrase', wrapped_by: [first] };
    const { data } = await keep({
      public_key: KEY,
      recovery_wrapped_identity: 'by phrase',
      credential_id: first,
      wrapped_identity: 'by first',
    });
    expect(data).toEqual({ public_key: KEY, ...made });
    expect(await acts()).toEqual([`create ${KEY} by admin undefined`]);
    const added = await keep({ public_key: KEY, credential_id: second, wrapped_identity: 'by second' });
    expect(added.data?.wrapped_by?.toSorted()).toEqual([first, second].toSorted());
    const listed = await stage.client(stage.owner).GET('/credentials');
    const copies = new Map(listed.data!.map(({ id, wrapped_identity }) => [id, wrapped_identity]));
    expect([copies.get(first), copies.get(second)]).toEqual(['by first', 'by second']);
    expect((await acts()).slice(1)).toEqual([`update ${KEY} by admin undefined`]);
  });

  test.each<[what: string, Request, number, string | undefined]>([
    ['the same again changes nothing', { public_key: KEY, recovery_wrapped_identity: 'x' }, 200, undefined],
    ['another phrase changes nothing', { public_key: KEY, recovery_wrapped_identity: 'y' }, 200, undefined],
    ['another public key is refused', { public_key: OTHER_KEY, recovery_wrapped_identity: 'y' }, 409, 'public_key'],
    ['a passkey of nobody is refused', { public_key: KEY, credential_id: 'x', wrapped_identity: 'y' }, 404, undefined],
    ['a copy of no passkey is refused', { public_key: KEY, wrapped_identity: 'y' }, 400, 'credential_id'],
    ['a passkey without a copy is refused', { public_key: KEY, credential_id: 'x' }, 400, 'wrapped_identity'],
  ])('later: %s', async (_what, body, status, field) => {
    await keep({ public_key: KEY, recovery_wrapped_identity: 'x' });
    const { response, error } = await keep(body);
    expect([response.status, error?.field]).toEqual([status, field]);
    expect(await identity()).toEqual({ public_key: KEY, recovery_wrapped_identity: 'x' });
    expect(await acts()).toHaveLength(1);
  });

  test('a phrase may come later, and all of a request that is refused is left out', async () => {
    await keep({ public_key: KEY });
    await keep({ public_key: KEY, recovery_wrapped_identity: 'x', credential_id: 'unknown', wrapped_identity: 'y' });
    expect(await identity()).toEqual({ public_key: KEY });
    await keep({ public_key: KEY, recovery_wrapped_identity: 'x' });
    expect((await identity())?.recovery_wrapped_identity).toBe('x');
    expect(await acts()).toEqual([`create ${KEY} by admin undefined`, `update ${KEY} by admin undefined`]);
  });

  test('a public key that is none is refused', async () => {
    const { response, error } = await keep({ public_key: 'AGE-SECRET-KEY-1X' });
    expect([response.status, error?.field]).toEqual([400, 'public_key']);
    expect(JSON.stringify(error)).not.toContain('AGE-SECRET');
    expect(await identity()).toEqual({});
  });

  test("somebody else's passkey holds no copy", async () => {
    const stranger = await stage.addStranger();
    const body = { public_key: KEY, credential_id: await addPasskey(stranger), wrapped_identity: 'y' };
    expect((await keep(body)).response.status).toBe(404);
    expect(await identity()).toEqual({});
  });

  test('of two browsers that make an identity at once, one is kept', async () => {
    const answers = await Promise.all([KEY, OTHER_KEY].map((public_key) => keep({ public_key })));
    expect(answers.map(({ response }) => response.status).toSorted()).toEqual([200, 409]);
    const kept = answers.find(({ data }) => data !== undefined)!.data!;
    expect(await identity()).toEqual(kept);
  });
}
