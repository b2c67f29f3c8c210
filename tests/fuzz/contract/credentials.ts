import type { Accounts } from '../../../src/accounts/accounts.js';
import { issueToken, type TokenKind } from '../../../src/accounts/bearer-tokens.js';
import type { Scope } from '../../../src/accounts/callers.js';
import type { User } from '../../../src/accounts/users.js';
import type { Database } from '../../../src/storage/database.js';
import type { FuzzedOperation, ServiceName } from './document.js';

export type HeaderSet = Readonly<Record<string, string>>;

const HOUR_MS = 3_600_000;

/** Creates missing accounts, and new credentials of every kind, by name. */
export async function createCredentials(
  database: Database,
  { users, sessions }: Accounts,
  origin: string,
): Promise<Readonly<Record<string, HeaderSet>>> {
  const ensure = async (username: string): Promise<User> =>
    (await users.findByUsername(username)) ?? users.add({ username, displayName: username });
  // The first account is the admin account.
  const admin = await ensure('admin');
  const [member, guest] = [await ensure('member'), await ensure('guest')];
  const session = async ({ id }: User): Promise<HeaderSet> => ({
    Cookie: `trellis_session=${await sessions.start(id)}`,
    Origin: origin,
  });
  const token = async (
    kind: TokenKind,
    { id: personId }: User,
    { scopes = ['read', 'write'], lifetimeMs = HOUR_MS * 24 }: { scopes?: readonly Scope[]; lifetimeMs?: number } = {},
  ) => {
    const createdAt = Date.now() - HOUR_MS;
    const consumer = kind === 'consumer' ? { consumer: 'acme/shop' } : {};
    const expiresAt = new Date(createdAt + lifetimeMs);
    return issueToken(database, { kind, personId, ...consumer, label: kind, scopes, createdAt, expiresAt });
  };
  const bearer = (value: string): HeaderSet => ({ Authorization: `Bearer ${value}` });
  const revoked = await token('personal', member);
  await database.updateTable('tokens').set({ revoked_at: Date.now() }).where('id', '=', revoked.row.id).execute();
  const [memberSession, adminSession] = [await session(member), await session(admin)];
  const readToken = await token('personal', member, { scopes: ['read'] });
  return {
    ...{ adminSession, memberSession },
    guestSession: await session(guest),
    readToken: bearer(readToken.token),
    writeToken: bearer((await token('personal', member, { scopes: ['write'] })).token),
    fullToken: bearer((await token('personal', member)).token),
    secretsToken: bearer((await token('write', admin)).token),
    consumerToken: bearer((await token('consumer', admin)).token),
    none: {},
    crossSite: { ...adminSession, Origin: 'https://evil.example' },
    crossSiteFetch: { ...memberSession, 'Sec-Fetch-Site': 'cross-site' },
    withoutOrigin: { Cookie: memberSession.Cookie ?? '' },
    tokenAndCookie: { ...adminSession, ...bearer(readToken.token) },
    revokedToken: bearer(revoked.token),
    expiredToken: bearer((await token('personal', member, { lifetimeMs: 1 })).token),
    unknownToken: bearer(`trl_${'A'.repeat(49)}`),
    malformedToken: bearer('x'),
    longToken: bearer('x'.repeat(5_000)),
    basic: { Authorization: 'Basic YWRtaW46YWRtaW4=' },
    emptyToken: { Authorization: 'Bearer' },
    staleCookie: { Cookie: 'trellis_session=stale', Origin: origin },
    oddCookie: { Cookie: 'trellis_session="; trellis_session=; =; \u00ff', Origin: origin },
  };
}

export const ALL_CREDENTIALS: readonly string[] = [
  ...['adminSession', 'memberSession', 'guestSession', 'readToken', 'writeToken', 'fullToken', 'secretsToken'],
  ...[
    'consumerToken',
    'none',
    'crossSite',
    'crossSiteFetch',
    'withoutOrigin',
    'tokenAndCookie',
    'revokedToken',
    'expiredToken',
  ],
  ...['unknownToken', 'malformedToken', 'longToken', 'basic', 'emptyToken', 'staleCookie', 'oddCookie'],
];

/** Operations that end sessions. They use a session that few other requests need. */
const SIGNS_OUT = ['endSession', 'logout', 'logoutEverywhere', 'logoutOthers'];

/** Returns the names of the credentials that the `security` of an operation admits. */
export function listAdmittedCredentials(service: ServiceName, { id, object }: FuzzedOperation): readonly string[] {
  if (SIGNS_OUT.includes(id)) return ['guestSession'];
  const names = (object.security ?? []).flatMap((requirement) =>
    Object.entries(requirement).flatMap(([scheme, roles]) => namesOf(service, scheme, roles)),
  );
  return names.length === 0 ? ['none'] : names;
}

function namesOf(service: ServiceName, scheme: string, roles: readonly string[]): readonly string[] {
  if (scheme === 'writeToken') return ['secretsToken'];
  if (scheme === 'consumerToken') return ['consumerToken'];
  if (scheme === 'token') return roles.includes('write') ? ['writeToken', 'fullToken'] : ['readToken', 'fullToken'];
  if (roles.includes('admin') || service === 'secrets') return ['adminSession'];
  return ['memberSession', 'memberSession', 'guestSession', 'adminSession'];
}
