import type { Database } from '../storage/database.js';
import { type ApiTokens, createApiTokens } from './api-tokens.js';
import { createSessionCookies, createSessions, type SessionCookies, type Sessions } from './authentication.js';
import { toRelyingParty } from './ceremony.js';
import type { PasskeyListener } from './events.js';
import { createInvitations, createSetupLink, type Invitations, type SetupLink } from './invitations.js';
import { createPasskeys, type Passkeys } from './passkeys.js';
import { createRegistration, type Registration, createSignIn, type SignIn } from './sign-in.js';
import { createUserStore, type UserStore } from './users.js';

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

interface AccountsOptions {
  /** Returns the public origin, to which passkeys are bound; known once the server listens. */
  readonly origin: () => string;
  readonly passkeyListener?: PasskeyListener;
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

const DAY_MS = 86_400_000;

/** Long enough for users to find out from the list which token has expired. */
const KEEP_EXPIRED_TOKENS_MS = 30 * DAY_MS;

/** Longer than the maximum lifetime of a token. */
const KEEP_EVENTS_MS = 400 * DAY_MS;

/** Deletes expired rows. They are already ignored, so it doesn't matter when this runs. */
async function deleteExpiredAccountData(database: Database, at: number): Promise<void> {
  for (const table of ['challenges', 'invitations', 'sessions'] as const) {
    await database.deleteFrom(table).where('expires_at', '<=', at).execute();
  }
  // The tokens of the secrets service stay until they are purged, so that its audit log remains readable.
  await database
    .deleteFrom('tokens')
    .where('kind', '=', 'personal')
    .where('expires_at', '<=', at - KEEP_EXPIRED_TOKENS_MS)
    .execute();
  await database
    .deleteFrom('account_events')
    .where('at', '<=', at - KEEP_EVENTS_MS)
    .execute();
}
