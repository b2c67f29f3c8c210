import type { Database } from '../storage/database.js';
import { createSessionCookies } from './cookies.js';
import type { SessionCookies } from './cookies.js';
import { createInvitations } from './invitations.js';
import type { Invitations } from './invitations.js';
import type { PasskeyWitness } from './passkey-witness.js';
import { createPasskeys } from './passkeys.js';
import type { Passkeys } from './passkeys.js';
import { createPeople } from './people.js';
import type { People } from './people.js';
import { createRegistration } from './registration.js';
import type { Registration } from './registration.js';
import { relyingPartyOf } from './relying-party.js';
import { createSessions } from './sessions.js';
import type { Sessions } from './sessions.js';
import { createSetupLink } from './setup-link.js';
import type { SetupLink } from './setup-link.js';
import { createSignIn } from './sign-in.js';
import type { SignIn } from './sign-in.js';
import { sweepAccounts } from './sweep.js';
import { createPersonalTokens } from './tokens.js';
import type { PersonalTokens } from './tokens.js';

export interface Accounts {
  readonly people: People;
  readonly sessions: Sessions;
  readonly cookies: SessionCookies;
  readonly tokens: PersonalTokens;
  readonly passkeys: Passkeys;
  readonly registration: Registration;
  readonly signIn: SignIn;
  readonly invitations: Invitations;
  readonly setupLink: SetupLink;
  /** Deletes expired sessions, links, challenges, API tokens and events. */
  sweep(): Promise<void>;
}

export interface AccountsOptions {
  /** Returns the public origin, to which passkeys are bound; known once the server listens. */
  readonly origin: () => string;
  readonly witness?: PasskeyWitness | undefined;
  readonly now?: () => number;
}

const IGNORE_CHANGES: PasskeyWitness = async () => undefined;

export function createAccounts(database: Database, options: AccountsOptions): Accounts {
  const { origin, witness = IGNORE_CHANGES, now = Date.now } = options;
  const relyingParty = () => relyingPartyOf(origin());
  return {
    people: createPeople(database, now),
    sessions: createSessions(database, now),
    cookies: createSessionCookies(origin),
    tokens: createPersonalTokens(database, now),
    passkeys: createPasskeys(database, { relyingParty, witness, now }),
    registration: createRegistration(database, { relyingParty, witness, now }),
    signIn: createSignIn(database, relyingParty, now),
    invitations: createInvitations(database, now),
    setupLink: createSetupLink(database, now),
    sweep: () => sweepAccounts(database, now()),
  };
}
