/** Tests every operation with every kind of credential. */
import { hash } from 'node:crypto';
import { createToken } from '../../../src/accounts/bearer-tokens.js';
import { secretsContract, type DocumentedOperation } from '../contract.js';
import { openStage, type Credential, type Stage } from './fixtures.js';

/**
 * Groups of credentials: `owner` is a session or write token of the owner; `consumer` is the same or a consumer token;
 * `session` is a session of the owner; `register` is the same, but a token gets the error of a missing credential;
 * `leave` is any session.
 */
type CallerGroup = 'anyone' | 'consumer' | 'leave' | 'owner' | 'register' | 'session';

const GROUPS: Readonly<Record<string, CallerGroup>> = {
  getHealth: 'anyone',
  getReadiness: 'anyone',
  getAuthStatus: 'anyone',
  beginLogin: 'anyone',
  beginRegistration: 'register',
  finishRegistration: 'register',
  logout: 'leave',
  getIdentity: 'owner',
  keepIdentity: 'session',
  listCredentials: 'session',
  renameCredential: 'session',
  deleteCredential: 'session',
  listTokens: 'session',
  createToken: 'session',
  revokeToken: 'session',
  rotateToken: 'session',
  purgeToken: 'session',
  listConsumerTokens: 'owner',
  createConsumerToken: 'owner',
  revokeConsumerToken: 'owner',
  rotateConsumerToken: 'owner',
  purgeConsumerToken: 'owner',
  listObjects: 'owner',
  createObject: 'owner',
  getObject: 'consumer',
  updateObject: 'owner',
  renameObject: 'owner',
  deleteObject: 'owner',
  getObjectUsedBy: 'owner',
  listObjectVersions: 'owner',
  getObjectVersion: 'owner',
  restoreObjectVersion: 'owner',
  listConsumers: 'owner',
  addConsumer: 'owner',
  updateConsumer: 'owner',
  deleteConsumer: 'owner',
  queryAuditLog: 'owner',
  getAuditLogFilterOptions: 'owner',
  verifyAuditLog: 'owner',
  callMcp: 'owner',
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
    'unknown token': invalid,
    'expired token': invalid,
    'revoked token': invalid,
    'rotated token': invalid,
    'token with a typo': invalid,
  };
}

export function permissionTests(): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.server.close());

  test('The table contains every operation', () => {
    const all = secretsContract.documented.map(({ id }) => id);
    // finishLogin checks a passkey, not the credential of the request.
    expect(Object.keys(GROUPS).toSorted()).toEqual(all.filter((id) => id !== 'finishLogin').toSorted());
  });

  test.each(Object.entries(GROUPS))('%s accepts the credentials of: %s', async (id, group) => {
    const operation = secretsContract.documented.find((known) => known.id === id)!;
    expect(await tryAll(operation)).toEqual(OUTCOMES[group]);
  });

  async function tryAll(operation: DocumentedOperation) {
    const outcomes: Record<string, string> = {};
    for (const [name, credential] of Object.entries(await createCredentials())) {
      const { response, error } = await stage.send(operation, credential);
      const isRejected = response.status === 401 || response.status === 403;
      outcomes[name] = isRejected ? `${response.status} ${error?.code}` : OK;
    }
    return outcomes;
  }

  /** Creates new credentials for each operation, because some operations revoke their own credential. */
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
      'unknown token': { token: createToken('write') },
      'expired token': await end({ expires_at: Date.now() }),
      'revoked token': await end({ revoked_at: Date.now() }),
      'rotated token': await end({ hash: hash('sha256', createToken('write')) }),
      'token with a typo': { token: (await issue()).replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')) },
    };
  }
}
