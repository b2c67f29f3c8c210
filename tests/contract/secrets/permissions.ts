/** Who may do what: every operation with every kind of credential. */
import { createToken, hashSecret } from '../../../src/accounts/token-format.js';
import { secretsContract } from '../contract.js';
import type { DocumentedOperation } from '../contract.js';
import { openStage } from './stage.js';
import type { Credential, Stage } from './stage.js';

/**
 * `consumer` is the owner's and a consumer's; `owner` a session or a write token
 * of the owner; `session` the owner in person; `register` the same, but nobody
 * is told that a token would not do; `leave` any session.
 */
type Who = 'anyone' | 'consumer' | 'leave' | 'owner' | 'register' | 'session';

const WHO: Readonly<Record<string, Who>> = {
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

const IN = 'let in';

/** What each credential is answered, by who may. */
const ANSWERS: Readonly<Record<Who, Readonly<Record<string, string>>>> = {
  anyone: answers({ owner: IN, stranger: IN, write: IN, consumer: IN, dead: IN, none: IN }),
  consumer: answers({ owner: IN, stranger: '403 forbidden', write: IN, consumer: IN }),
  leave: answers({ owner: IN, stranger: IN, write: '403 session_required' }),
  owner: answers({ owner: IN, stranger: '403 forbidden', write: IN }),
  register: answers({ owner: IN, stranger: '403 forbidden' }),
  session: answers({ owner: IN, stranger: '403 forbidden', write: '403 session_required' }),
};

interface Told {
  readonly owner: string;
  readonly stranger: string;
  readonly write?: string;
  readonly consumer?: string;
  readonly dead?: string;
  readonly none?: string;
}

/** Dead and unknown ones look the same, and a consumer token as if it were one of them. */
function answers({ owner, stranger, write, consumer, dead, none }: Told): Readonly<Record<string, string>> {
  const refused = '401 unauthenticated';
  return {
    'no credential': none ?? refused,
    'session of the owner': owner,
    'session of somebody else': stranger,
    'session that has ended': dead ?? refused,
    'write token': write ?? refused,
    'consumer token': consumer ?? refused,
    'unknown token': dead ?? refused,
    'expired token': dead ?? refused,
    'revoked token': dead ?? refused,
    'rotated token': dead ?? refused,
    'token with a typo': dead ?? refused,
  };
}

export function permissionTests(): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.server.close());

  test('every operation is in the table', () => {
    const all = secretsContract.documented.map(({ id }) => id);
    // What it refuses is a passkey, not the credential of the request.
    expect(Object.keys(WHO).toSorted()).toEqual(all.filter((id) => id !== 'finishLogin').toSorted());
  });

  test.each(Object.entries(WHO))('%s is for: %s', async (id, who) => {
    const operation = secretsContract.documented.find((known) => known.id === id)!;
    expect(await tryAll(operation)).toEqual(ANSWERS[who]);
  });

  async function tryAll(operation: DocumentedOperation) {
    const told: Record<string, string> = {};
    for (const [name, credential] of Object.entries(await makeCredentials())) {
      const { response, error } = await stage.send(operation, credential);
      const isRefused = response.status === 401 || response.status === 403;
      told[name] = isRefused ? `${response.status} ${error?.code}` : IN;
    }
    return told;
  }

  /** New ones for each operation: some of them end what they are let in with. */
  async function makeCredentials(): Promise<Record<string, Credential>> {
    const { server, owner } = stage;
    const signIn = async (personId: string) => ({
      cookie: `trellis_session=${await server.accounts.sessions.start(personId)}`,
    });
    const issue = () => server.issueToken('write', owner.person);
    const end = async (columns: { expires_at?: number; revoked_at?: number; hash?: string }) => {
      const token = await issue();
      const own = server.database.updateTable('tokens').set(columns);
      await own.where('hash', '=', hashSecret(token)).execute();
      return { token };
    };
    const stranger = await stage.addStranger();
    return {
      'no credential': {},
      'session of the owner': await signIn(owner.person.id),
      'session of somebody else': { cookie: stranger.cookie },
      'session that has ended': { cookie: 'trellis_session=ended' },
      'write token': { token: await issue() },
      'consumer token': { token: await stage.consumerToken('acme/shop') },
      'unknown token': { token: createToken('write') },
      'expired token': await end({ expires_at: Date.now() }),
      'revoked token': await end({ revoked_at: Date.now() }),
      'rotated token': await end({ hash: hashSecret(createToken('write')) }),
      'token with a typo': { token: (await issue()).replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')) },
    };
  }
}
