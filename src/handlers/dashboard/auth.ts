import type { SignInResult } from '../../accounts/registration.js';
import type { AuthHandlers } from '../../generated/dashboard/operations.js';
import { toSessionUser } from '../page-data.js';
import type { DashboardServices } from './handlers.js';

export const authHandlers = ({ accounts }: Pick<DashboardServices, 'accounts'>): AuthHandlers => {
  const { registration, signIn, sessions, users, cookies } = accounts;

  const signedIn = ({ user, sessionId }: SignInResult) =>
    ({ status: 200, body: toSessionUser(user), headers: { 'Set-Cookie': cookies.set(sessionId) } }) as const;
  const signedOut = () => ({ status: 204, headers: { 'Set-Cookie': cookies.clear() } }) as const;

  return {
    getRegistrationStatus: async () => ({ status: 200, body: { open: await registration.isOpen() } }),

    beginRegistration: async ({ body }) => ({ status: 200, body: await registration.begin(body) }),

    finishRegistration: async ({ query, body, address }) =>
      signedIn(await registration.finish({ username: query.username, credential: body }, address)),

    beginLogin: async () => ({ status: 200, body: await signIn.begin() }),

    finishLogin: async ({ query, body, address }) =>
      signedIn(await signIn.finish({ username: query.username, credential: body }, address)),

    async logout({ caller, address }) {
      await sessions.signOut(caller, address);
      return signedOut();
    },

    async logoutEverywhere({ caller, address }) {
      await sessions.signOutEverywhere(caller, address);
      return signedOut();
    },

    getSession: async ({ caller }) => ({ status: 200, body: toSessionUser(await users.read(caller)) }),
  };
};
