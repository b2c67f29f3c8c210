/** Tests every operation with every kind of credential. */
import { hash } from 'node:crypto';
import { createToken as createRandomToken } from '../../../src/accounts/bearer-tokens.js';
import type { components } from '../../../src/generated/secrets/types.js';
import { AUDIENCE, type OidcProvider, startOidcProvider } from '../../secrets/oidc-provider.js';
import { secretsContract, type DocumentedOperation } from '../contract.js';
import { openStage, type Credential, type Stage } from './fixtures.js';

/**
 * Groups of credentials: `owner` is a session or write token of the owner; `consumer` is the same or a consumer token;
 * `session` is a session of the owner; `register` is the same, but a token gets the error of a missing credential;
 * `leave` is any session.
 */
type CallerGroup = 'anyone' | 'consumer' | 'leave' | 'owner' | 'register' | 'session';

/** The group of an operation, and the permission that a write token needs for it. */
type Operation = readonly [group: CallerGroup, permission?: Permission];

const PERMISSIONS = ['list', 'read', 'write', 'manage'] as const;

type Permission = (typeof PERMISSIONS)[number];

const GROUPS: Readonly<Record<string, Operation>> = {
  getHealth: ['anyone'],
  getReadiness: ['anyone'],
  getAuthStatus: ['anyone'],
  beginLogin: ['anyone'],
  beginRegistration: ['register'],
  finishRegistration: ['register'],
  logout: ['leave'],
  getIdentity: ['owner'],
  keepIdentity: ['session'],
  listCredentials: ['session'],
  renameCredential: ['session'],
  deleteCredential: ['session'],
  listTokens: ['session'],
  createToken: ['session'],
  revokeToken: ['session'],
  rotateToken: ['session'],
  purgeToken: ['session'],
  listConsumerTokens: ['owner', 'manage'],
  createConsumerToken: ['owner', 'manage'],
  revokeConsumerToken: ['owner', 'manage'],
  rotateConsumerToken: ['owner', 'manage'],
  purgeConsumerToken: ['owner', 'manage'],
  beginDeviceLogin: ['anyone'],
  pollDeviceLogin: ['anyone'],
  getDeviceLogin: ['session'],
  approveDeviceLogin: ['session'],
  denyDeviceLogin: ['session'],
  getOwnToken: ['consumer'],
  revokeOwnToken: ['anyone'],
  listWorkloadRules: ['session'],
  putWorkloadRule: ['session'],
  deleteWorkloadRule: ['session'],
  listObjects: ['consumer', 'list'],
  createObject: ['owner', 'write'],
  getObject: ['consumer', 'read'],
  updateObject: ['owner', 'write'],
  renameObject: ['owner', 'write'],
  deleteObject: ['owner', 'manage'],
  getObjectUsedBy: ['owner', 'list'],
  listObjectVersions: ['owner', 'list'],
  deleteObjectVersions: ['owner', 'manage'],
  getObjectVersion: ['owner', 'read'],
  restoreObjectVersion: ['owner', 'write'],
  listConsumers: ['owner'],
  addConsumer: ['owner', 'manage'],
  updateConsumer: ['owner', 'manage'],
  deleteConsumer: ['owner', 'manage'],
  queryAuditLog: ['owner', 'list'],
  getAuditLogFilterOptions: ['owner', 'list'],
  verifyAuditLog: ['owner', 'list'],
  callMcp: ['owner'],
};

const OK = 'accepted';

/** The outcome for each credential, by group. */
const OUTCOMES: Readonly<Record<CallerGroup, Readonly<Record<string, string>>>> = {
  anyone: toOutcomes({ owner: OK, stranger: OK, write: OK, consumer: OK, invalid: OK, none: OK }),
  consumer: toOutcomes({ owner: OK, stranger: '403 forbidden', write: OK, consumer: OK }),
  leave: toOutcomes({ owner: OK, stranger: OK, write: '403 session_required' }),
  owner: toOutcomes({ owner: OK, stranger: '403 forbidden', write: OK }),
  register: toOutcomes({ owner: OK, stranger: '403 forbidden' }),
  session: toOutcomes({ owner: OK, stranger: '403 forbidden', write: '403 session_required' }),
};

interface GroupOutcomes {
  readonly owner: string;
  readonly stranger: string;
  readonly write?: string;
  readonly consumer?: string;
  readonly invalid?: string;
  readonly none?: string;
}

/** By default, all invalid credentials and consumer tokens get the error of a missing credential. */
function toOutcomes(outcomes: GroupOutcomes): Readonly<Record<string, string>> {
  const rejected = '401 unauthenticated';
  const { owner, stranger, write = rejected, consumer = rejected, invalid = rejected, none = rejected } = outcomes;
  return {
    'no credential': none,
    'session of the owner': owner,
    'session of a different user': stranger,
    'ended session': invalid,
    'write token': write,
    'consumer token': consumer,
    'write token of a workload': write,
    'consumer token of a workload': consumer,
    'token of a workload whose rule was deleted': invalid,
    'token of the issuer of a workload': invalid,
    'unknown token': invalid,
    'expired token': invalid,
    'revoked token': invalid,
    'rotated token': invalid,
    'token with a typo': invalid,
  };
}

export function permissionTests(): void {
  let stage: Stage;
  let provider: OidcProvider;
  beforeAll(async () => {
    stage = await openStage({ recordsDenied: true, replicas: 0 });
    provider = await startOidcProvider();
    await putRule('jobs', { access: { permissions: [...PERMISSIONS] } });
    await putRule('jobs-of-consumer', { consumer: 'acme/jobs' });
    for (const permission of PERMISSIONS)
      await putRule(`jobs-${permission}`, { access: { permissions: [permission] } });
    await putRule('jobs-elsewhere', { access: { permissions: [...PERMISSIONS], addresses: ['192.0.2.0/24'] } });
  });
  afterAll(async () => {
    await stage.server.close();
    await provider.close();
  });

  /** Puts a rule for jobs of the repository `acme/<name>`. */
  async function putRule(name: string, rule: Partial<components['schemas']['PutWorkloadRuleRequest']>) {
    const claims = [{ name: 'repository', patterns: [`acme/${name}`] }];
    const body = { issuer: provider.issuer, audience: AUDIENCE, claims, ...rule };
    const { data } = await stage
      .client(stage.owner)
      .PUT('/workload-rules/{name}', { params: { path: { name } }, body });
    expect(data?.name).toBe(name);
  }

  /** Returns the token of a job of the repository `acme/<name>`, whose claims determine the rule. */
  async function exchange(name: string): Promise<Credential> {
    const body = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await provider.issue({ claims: { repository: `acme/${name}` } }),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    } as const;
    const { data } = await stage.client({}).POST('/auth/token', { body });
    return { token: data!.access_token };
  }

  test('The table contains every operation', () => {
    const all = secretsContract.documented.map(({ id }) => id);
    // They check a passkey or the token of an issuer, not the credential of the request.
    const expected = all.filter((id) => !['exchangeToken', 'finishLogin'].includes(id));
    expect(Object.keys(GROUPS).toSorted()).toEqual(expected.toSorted());
  });

  const findOperation = (id: string) => secretsContract.documented.find((known) => known.id === id)!;
  let shared: Promise<Record<string, Credential>> | undefined;
  let limited: Promise<Record<string, Credential>> | undefined;
  const rows = Object.entries(GROUPS).map(([id, [group, permission]]) => [id, group, permission] as const);

  test.each(rows)('%s accepts the credentials of: %s', async (id, group, permission) => {
    const operation = findOperation(id);
    // Signing out ends a session; other operations leave their own credential valid.
    const credentials = await (group === 'leave' ? createCredentials() : (shared ??= createCredentials()));
    expect(await tryAll(operation, credentials)).toEqual(OUTCOMES[group]);
    const write = OUTCOMES[group]['write token'];
    const expected = PERMISSIONS.map((own) => {
      const isAllowed = write !== OK || permission === undefined || own === permission;
      const outcome = isAllowed ? write : '403 forbidden';
      return Object.entries({ [`token that may ${own}`]: outcome, [`job that may ${own}`]: outcome });
    });
    expect(await tryAll(operation, await (limited ??= createLimitedTokens()))).toEqual({
      ...Object.fromEntries(expected.flat()),
      // Some operations need no credential, so the token is not looked at.
      'token from a different address': operation.spec.security.length === 0 ? OK : '403 forbidden',
      'job from a different address': operation.spec.security.length === 0 ? OK : '403 forbidden',
    });
  });

  const secured = rows.filter(([id]) => findOperation(id).spec.security.length > 0);

  test.each(secured)('%s: denied requests are recorded with their actor and reason', async (id) => {
    const { server } = stage;
    // Registration accepts requests without a credential, so an invalid one is ignored.
    const session = { cookie: (await stage.addStranger()).cookie };
    const credentials: Credential[] = [{ token: createRandomToken('write') }, session];
    await server.denials?.flush();
    const reasons: string[] = [];
    for (const credential of credentials) {
      const { response, error } = await stage.send(findOperation(id), credential);
      if (response.status === 401 || response.status === 403) reasons.push(error!.code);
    }
    await server.denials?.flush();
    const query = { subject_type: 'request', order: 'desc', limit: 2 } as const;
    const { data } = await stage.client().GET('/audit-log', { params: { query } });
    const own = data!.filter(({ subject_id }) => subject_id === id).toReversed();
    expect(own.map(({ reason }) => reason)).toEqual(reasons);
    expect(reasons.length).toBeGreaterThan(0);
    for (const { action, count, ip, reason, actor_type: type } of own) {
      expect([action, count, ip]).toEqual(['denied', 1, '127.0.0.1']);
      expect(type).toBe(reason === 'unauthenticated' ? undefined : 'session');
    }
  });

  test('No operation changes or removes an entry of the audit log', async () => {
    const { owner, server } = stage;
    const verify = (query = {}) =>
      stage.client(owner).GET('/audit-log/verify', { params: { query: { full: true, ...query } } });
    const { data: before } = await verify();
    for (const [id] of rows)
      await stage.send(findOperation(id), { token: await server.issueToken('write', owner.person) });
    const { data: after } = await verify({ entries: before!.entries, head: before!.head });
    expect([before!.intact, after!.intact, after!.entries > before!.entries]).toEqual([true, true, true]);
  });

  test('The table contains the permissions of the contract', () => {
    const ofContract = secretsContract.documented.flatMap(({ id, spec }) =>
      spec.security.flatMap(({ scheme, roles }) =>
        scheme === 'writeToken' && roles.length > 0 ? [[id, ...roles]] : [],
      ),
    );
    const ofTable = rows.flatMap(([id, , permission]) => (permission === undefined ? [] : [[id, permission]]));
    expect(Object.fromEntries(ofTable)).toEqual(Object.fromEntries(ofContract));
  });

  // The example of a value is rejected before the secret is looked up; see `tests/secrets/token-scope.test.ts`.
  const isLookedUp = (id: string) => !['createObject', 'updateObject'].includes(id);

  test.each(rows.filter(([id, , permission]) => permission !== undefined && isLookedUp(id)))(
    '%s: a token that is limited to some secrets does not get the others',
    async (id) => {
      const { token } = await createToken({ name_prefix: 'nothing-has-this-prefix' });
      const { response, error } = await stage.send(findOperation(id), { token });
      const outcome = `${response.status} ${error?.code}`;
      const isForAll = /Audit|Consumer/.test(id);
      const expected = isForAll ? '403 forbidden' : '404 not_found';
      expect(outcome).toBe(id === 'listObjects' ? '200 undefined' : expected);
    },
  );

  async function createToken(access: components['schemas']['TokenAccess']) {
    const body = { description: 'limited', access };
    return { token: (await stage.client(stage.owner).POST('/tokens', { body })).data!.value };
  }

  async function createLimitedTokens(): Promise<Record<string, Credential>> {
    const credentials: Record<string, Credential> = {};
    for (const permission of PERMISSIONS) {
      credentials[`token that may ${permission}`] = await createToken({ permissions: [permission] });
      credentials[`job that may ${permission}`] = await exchange(`jobs-${permission}`);
    }
    credentials['token from a different address'] = await createToken({ addresses: ['192.0.2.0/24', '2001:db8::/32'] });
    credentials['job from a different address'] = await exchange('jobs-elsewhere');
    return credentials;
  }

  async function tryAll(operation: DocumentedOperation, credentials: Readonly<Record<string, Credential>>) {
    const outcomes: Record<string, string> = {};
    for (const [name, credential] of Object.entries(credentials)) {
      const { response, error } = await stage.send(operation, credential);
      const isRejected = response.status === 401 || response.status === 403;
      outcomes[name] = isRejected ? `${response.status} ${error?.code}` : OK;
    }
    return outcomes;
  }

  async function exchangeAndEnd(): Promise<Credential> {
    await putRule('jobs-ended', { consumer: 'acme/ended' });
    const credential = await exchange('jobs-ended');
    const params = { path: { name: 'jobs-ended' } };
    await stage.client(stage.owner).DELETE('/workload-rules/{name}', { params });
    return credential;
  }

  /** Creates a credential of each kind. */
  async function createCredentials(): Promise<Record<string, Credential>> {
    const { server, owner } = stage;
    const signIn = async (personId: string) => ({
      cookie: `trellis_session=${await server.accounts.sessions.start(personId)}`,
    });
    const issue = () => server.issueToken('write', owner.person);
    const end = async (columns: { expires_at?: number; revoked_at?: number; hash?: string }) => {
      const token = await issue();
      const own = server.database.updateTable('tokens').set(columns);
      await own.where('hash', '=', hash('sha256', token)).execute();
      return { token };
    };
    const stranger = await stage.addStranger();
    return {
      'no credential': {},
      'session of the owner': await signIn(owner.person.id),
      'session of a different user': { cookie: stranger.cookie },
      'ended session': { cookie: 'trellis_session=ended' },
      'write token': { token: await issue() },
      'consumer token': { token: await stage.consumerToken('acme/shop') },
      'write token of a workload': await exchange('jobs'),
      'consumer token of a workload': await exchange('jobs-of-consumer'),
      'token of a workload whose rule was deleted': await exchangeAndEnd(),
      'token of the issuer of a workload': { token: await provider.issue({ claims: { repository: 'acme/jobs' } }) },
      'unknown token': { token: createRandomToken('write') },
      'expired token': await end({ expires_at: Date.now() }),
      'revoked token': await end({ revoked_at: Date.now() }),
      'rotated token': await end({ hash: hash('sha256', createRandomToken('write')) }),
      'token with a typo': { token: (await issue()).replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')) },
    };
  }
}
