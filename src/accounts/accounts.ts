import type { Database } from '../storage/database.js';
import { createSessionCookies } from './cookies.js';
import type { SessionCookies } from './cookies.js';
import { createInvitations } from './invitations.js';
import type { Invitations } from './invitations.js';
import type { PasskeyListener } from './passkey-listener.js';
import { createPasskeys } from './passkeys.js';
import type { Passkeys } from './passkeys.js';
import { createUserStore } from './users.js';
import type { UserStore } from './users.js';
import { createRegistration } from './registration.js';
import type { Registration } from './registration.js';
import { toRelyingParty } from './relying-party.js';
import { createSessions } from './sessions.js';
import type { Sessions } from './sessions.js';
import { createSetupLink } from './setup-link.js';
import type { SetupLink } from './setup-link.js';
import { createSignIn } from './sign-in.js';
import type { SignIn } from './sign-in.js';
import { deleteExpiredAccountData } from './delete-expired.js';
import { createApiTokens } from './tokens.js';
import type { ApiTokens } from './tokens.js';

export interface Accounts {
  readonly users: UserStore;
  readonly sessions: Sessions;
  readonly cookies: SessionCookies;
  readonly tokens: ApiTokens;
  readonly passkeys: Passkeys;
  readonly registration: Registration;
  readonly signIn: SignIn;
  readonly invitations: Invitations;
  readonly setupLink: SetupLink;
  /** Deletes expired sessions, links, challenges, API tokens and events. */
  deleteExpired(): Promise<void>;
}

export interface AccountsOptions {
  /** Returns the public origin, to which passkeys are bound; known once the server listens. */
  readonly origin: () => string;
  readonly passkeyListener?: PasskeyListener | undefined;
  readonly now?: () => number;
}

const IGNORE_CHANGES: PasskeyListener = async () => undefined;

export function createAccounts(database: Database, options: AccountsOptions): Accounts {
  const { origin, passkeyListener = IGNORE_CHANGES, now = Date.now } = options;
  const relyingParty = () => toRelyingParty(origin());
  return {
    users: createUserStore(database, now),
    sessions: createSessions(database, now),
    cookies: createSessionCookies(origin),
    tokens: createApiTokens(database, now),
    passkeys: createPasskeys(database, { relyingParty, passkeyListener, now }),
    registration: createRegistration(database, { relyingParty, passkeyListener, now }),
    signIn: createSignIn(database, relyingParty, now),
    invitations: createInvitations(database, now),
    setupLink: createSetupLink(database, now),
    deleteExpired: () => deleteExpiredAccountData(database, now()),
  };
}
