import { randomBytes } from 'node:crypto';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { ChallengesTable, InvitationsTable } from '../storage/tables.js';
import { toUsernameKey } from '../storage/username-key.js';
import { createChallenge, takeChallenge } from './challenges.js';
import { readChallenge, refuseCeremony } from './credential-json.js';
import { recordEvent } from './events.js';
import { requireFree } from './invitations.js';
import { toCreationOptions } from './passkey-options.js';
import type { CreationOptions } from './passkey-options.js';
import type { PasskeyParts } from './passkeys.js';
import { storePasskey } from './passkeys.js';
import { addPerson, findPersonRow, toPerson } from './people.js';
import type { NewPerson, Person } from './people.js';
import { startSession } from './sessions.js';
import { isUnclaimed } from './setup-link.js';
import { hashSecret } from './token-format.js';
import { parseDisplayName, parseLabel, parseUsername } from './usernames.js';
import { verifyNewPasskey } from './verify-passkey.js';

export interface SignedIn {
  readonly person: Person;
  /** The secret that the cookie carries. */
  readonly sessionId: string;
}

export interface RegistrationRequest extends NewPerson {
  /** The secret of a setup link or of an invitation. */
  readonly inviteToken?: string | undefined;
}

export interface Registration {
  /** Whether there is no account yet, so that the setup link makes the first. */
  isOpen(): Promise<boolean>;
  /**
   * Begins an account. Nothing of it is kept but the challenge, so one that is
   * given up takes no name away.
   *
   * @throws AppError `forbidden` without a link that holds for this name,
   * whether or not the name is taken; `conflict` when it is.
   */
  begin(request: RegistrationRequest): Promise<CreationOptions>;
  /**
   * Makes the account with its first passkey, signs it in, and uses up the link.
   *
   * @throws AppError `invalid_input`, the one refusal of every ceremony;
   * `conflict` when another link for the same name was used first.
   */
  finish(answer: RegistrationAnswer, from: string): Promise<Registered>;
}

export interface Registered extends SignedIn {
  readonly passkeyId: string;
}

export interface RegistrationAnswer {
  readonly username: string;
  /** As the browser answered, unchecked. */
  readonly credential: unknown;
  /** A name for the passkey. */
  readonly label?: string | undefined;
}

export function createRegistration(database: Database, { relyingParty, witness, now }: PasskeyParts): Registration {
  return {
    isOpen: () => isUnclaimed(database),
    async begin({ inviteToken = '', ...asked }) {
      const name = parseUsername(asked.username);
      const link = await findLink(database, { inviteToken, username: name, at: now() });
      // Names that differ in case alone are one; how it is spelt, the invitation says.
      const username = link.username ?? name;
      const displayName = link.display_name ?? parseDisplayName(asked.displayName);
      await requireFree(database, username);
      const userHandle = randomBytes(32).toString('base64url');
      const memory = {
        invitation_id: link.id,
        username,
        display_name: displayName,
        user_handle: userHandle,
        at: now(),
      };
      const challenge = await createChallenge(database, { ceremony: 'register', ...memory });
      return toCreationOptions(relyingParty(), { username, displayName, userHandle, challenge });
    },
    async finish({ username, credential, label = 'First passkey' }, from) {
      const name = parseLabel(label);
      const challenge = readChallenge(credential);
      const begun = await takeChallenge(database, challenge, { ceremony: 'register', at: now() });
      const account = begun && toAccount(begun);
      if (!account || toUsernameKey(account.username) !== toUsernameKey(username.trim())) throw refuseCeremony();
      const passkey = await verifyNewPasskey(credential, { challenge, relyingParty: relyingParty() });
      return inTransaction(database, async (transaction) => {
        const at = now();
        const person = await letIn(transaction, account, at);
        const own = { person_id: person.id, user_handle: account.userHandle, label: name, created_at: at };
        await storePasskey(transaction, { ...passkey, ...own });
        const actor = { kind: 'session', personId: person.id } as const;
        const event = { actor, personId: person.id, subject: person.username, from, at };
        await recordEvent(transaction, { action: 'account_created', ...event });
        await witness(transaction, { action: 'create', passkeyId: passkey.id, actor, personId: person.id, from, at });
        return { person, passkeyId: passkey.id, sessionId: await startSession(transaction, person.id, at) };
      });
    },
  };
}

/** An account that was begun. */
interface Account extends NewPerson {
  readonly invitationId: string;
  readonly userHandle: string;
}

function toAccount({ invitation_id, username, display_name, user_handle }: ChallengesTable): Account | undefined {
  if (invitation_id === null || username === null || display_name === null || user_handle === null) return undefined;
  return { invitationId: invitation_id, username, displayName: display_name, userHandle: user_handle };
}

interface LinkUse {
  readonly inviteToken: string;
  readonly username: string;
  readonly at: number;
}

async function findLink(database: Database, { inviteToken, username, at }: LinkUse): Promise<InvitationsTable> {
  const links = database.selectFrom('invitations').selectAll().where('expires_at', '>', at);
  const link = await links.where('hash', '=', hashSecret(inviteToken)).executeTakeFirst();
  const isSetup = link?.username_key === null;
  const holds = isSetup ? await isUnclaimed(database) : link?.username_key === toUsernameKey(username);
  if (link !== undefined && holds) return link;
  const message = 'Expected a setup link or an invitation for this username that still holds. Ask for a new one.';
  throw new AppError('forbidden', message);
}

/**
 * Uses up the link, and every other for the same name. An account that was put
 * out is the person's again, with what they stored.
 */
async function letIn(transaction: Database, account: Account, at: number): Promise<Person> {
  const { invitationId, username, displayName } = account;
  const used = await transaction
    .deleteFrom('invitations')
    .where('id', '=', invitationId)
    .where('expires_at', '>', at)
    .returning('username_key')
    .executeTakeFirst();
  if (used === undefined || (used.username_key === null && !(await isUnclaimed(transaction)))) throw refuseCeremony();
  await transaction.deleteFrom('invitations').where('username_key', '=', toUsernameKey(username)).execute();
  await requireFree(transaction, username);
  const known = await findPersonRow(transaction, username);
  return known === undefined ? addPerson(transaction, { username, displayName }, at) : toPerson(known);
}
