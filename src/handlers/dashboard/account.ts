import type { ApiToken } from '../../accounts/api-tokens.js';
import type { Session } from '../../accounts/authentication.js';
import type { Passkey } from '../../accounts/passkeys.js';
import type { SignInResult } from '../../accounts/sign-in.js';
import type { AuthHandlers, CredentialsHandlers, TokensHandlers } from '../../generated/dashboard/operations.js';
import type { components } from '../../generated/dashboard/types.js';
import { toSessionUser } from '../page-data.js';
import type { DashboardServices } from './services.js';

export const authHandlers = ({ accounts }: Pick<DashboardServices, 'accounts'>): AuthHandlers => {
  const { registration, signIn, sessions, users, cookies } = accounts;

  const signedIn = ({ user, sessionId }: SignInResult) =>
    ({ status: 200, body: toSessionUser(user), headers: { 'Set-Cookie': cookies.set(sessionId) } }) as const;
  const signedOut = () => ({ status: 204, headers: { 'Set-Cookie': cookies.clear() } }) as const;

  return {
    getRegistrationStatus: async () => ({ status: 200, body: { open: await registration.isOpen() } }),

    beginRegistration: async ({ body }) => ({ status: 200, body: await registration.begin(body) }),

    finishRegistration: async ({ query, body, headers, caller: before, address }) =>
      signedIn(
        await registration.finish(
          { username: query.username, credential: body, userAgent: headers['user-agent'], before },
          address,
        ),
      ),

    beginLogin: async () => ({ status: 200, body: await signIn.begin() }),

    finishLogin: async ({ query, body, headers, caller: before, address }) =>
      signedIn(
        await signIn.finish(
          { username: query.username, credential: body, userAgent: headers['user-agent'], before },
          address,
        ),
      ),

    async logout({ caller, address }) {
      await sessions.signOut(caller, address);
      return signedOut();
    },

    async logoutEverywhere({ caller, address }) {
      await sessions.signOutEverywhere(caller, address);
      return signedOut();
    },

    async logoutOthers({ caller, address }) {
      await sessions.endOthers(caller, address);
      return { status: 204 };
    },

    listSessions: async ({ caller }) => ({ status: 200, body: (await sessions.list(caller)).map(toSessionBody) }),

    async endSession({ caller, params, address }) {
      await sessions.end(caller, params.id, address);
      return { status: 204 };
    },

    getSession: async ({ caller }) => ({ status: 200, body: toSessionUser(await users.read(caller)) }),
  };
};

function toSessionBody(session: Session): components['schemas']['Session'] {
  const { id, browser, createdAt, lastUsedAt, expiresAt, isCurrent } = session;
  return {
    id,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    isCurrent,
    ...(browser !== undefined && { browser }),
    ...(lastUsedAt && { lastUsedAt: lastUsedAt.toISOString() }),
  };
}

export const credentialsHandlers = ({ accounts }: Pick<DashboardServices, 'accounts'>): CredentialsHandlers => ({
  async listCredentials({ caller }) {
    const own = await accounts.passkeys.list(caller);
    return { status: 200, body: own.map(toCredential) };
  },

  beginCredential: async ({ caller }) => ({ status: 200, body: await accounts.passkeys.begin(caller) }),

  async finishCredential({ caller, query, body, address }) {
    const added = await accounts.passkeys.finish(caller, { label: query.label, credential: body }, address);
    return { status: 201, body: toCredential(added) };
  },

  async renameCredential({ caller, params, body, address }) {
    const renamed = await accounts.passkeys.rename(caller, { id: params.id, label: body.label }, address);
    return { status: 200, body: toCredential(renamed) };
  },

  async deleteCredential({ caller, params, address }) {
    await accounts.passkeys.remove(caller, params.id, address);
    return { status: 204 };
  },
});

function toCredential({ id, label, createdAt, lastUsedAt }: Passkey): components['schemas']['Credential'] {
  const used = lastUsedAt === undefined ? {} : { lastUsedAt: lastUsedAt.toISOString() };
  return { id, label, createdAt: createdAt.toISOString(), ...used };
}

export const tokensHandlers = ({ accounts: { tokens } }: Pick<DashboardServices, 'accounts'>): TokensHandlers => ({
  async listTokens({ caller }) {
    const own = await tokens.list(caller);
    return { status: 200, body: own.map(toApiToken) };
  },

  async createToken({ caller, address, body: { label, expiresAt, scopes } }) {
    const created = await tokens.create(caller, { label, scopes, expiresAt: new Date(expiresAt) }, address);
    return { status: 201, body: { ...toApiToken(created), token: created.token } };
  },

  async revokeToken({ caller, address, params }) {
    await tokens.revoke(caller, params.id, address);
    return { status: 204 };
  },
});

function toApiToken({
  id,
  label,
  scopes,
  createdAt,
  expiresAt,
  lastUsedAt,
}: ApiToken): components['schemas']['APIToken'] {
  return {
    id,
    label,
    scopes: [...scopes],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    ...(lastUsedAt && { lastUsedAt: lastUsedAt.toISOString() }),
  };
}
