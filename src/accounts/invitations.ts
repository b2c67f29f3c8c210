import { hash, randomBytes, randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../storage/database.js';
import { type InvitationsTable, toUsernameKey } from '../storage/tables.js';
import { assertRecentSignIn, assertSessionOpen, type Caller, requireAdminSession } from './callers.js';
import { COMMAND_LINE_ACTOR, type PasskeyListener, recordEvent } from './events.js';
import {
  deleteInvitations,
  findUserRow,
  type NewUser,
  parseDisplayName,
  parseUsername,
  usernameTakenError,
} from './users.js';

/** The lifetime of invitations and setup links. */
const LIFETIME_MS = 3_600_000;

/** More than an admin needs within the lifetime of an invitation. */
const MAX_OPEN = 100;

export interface Invitation {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly expiresAt: Date;
}

/** Manages invitations. Other callers than an admin's session get `session_required` or `forbidden`. */
export interface Invitations {
  /**
   * Creates an invitation for one user, valid once and for an hour.
   *
   * @returns the invitation and its secret, which is not stored and never shown again.
   * @throws AppError `conflict` when the username is taken, `invalid_input` for an invalid name or when 100
   * invitations are open.
   */
  create(caller: Caller | undefined, person: NewUser, from: string): Promise<Invitation & { readonly token: string }>;
  /** Lists the open invitations, oldest first. */
  list(caller: Caller | undefined): Promise<Invitation[]>;
  /** @throws AppError `not_found` for an id that is unknown, used, expired or revoked. */
  revoke(caller: Caller | undefined, id: string, from: string): Promise<void>;
}

export function createInvitations(database: Database, now: () => number = Date.now): Invitations {
  return {
    async create(caller, { username, displayName }, from) {
      const admin = requireAdminSession(caller);
      assertRecentSignIn(admin, now());
      const person = { username: parseUsername(username), displayName: parseDisplayName(displayName) };
      return inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, admin);
        await assertUsernameAvailable(transaction, person.username);
        await assertBelowLimit(transaction, now());
        const { token, row } = await insertInvitation(transaction, now(), person);
        const event = { actor: admin, subject: row.id, from, at: now() };
        await recordEvent(transaction, { action: 'invitation_created', ...event });
        return { ...toInvitation(row), token };
      });
    },
    async list(caller) {
      requireAdminSession(caller);
      return (await selectOpen(database, now()).orderBy('created_at').orderBy('id').execute()).map(toInvitation);
    },
    async revoke(caller, id, from) {
      const admin = requireAdminSession(caller);
      await inTransaction(database, async (transaction) => {
        const row = await selectOpen(transaction, now()).where('id', '=', id).executeTakeFirst();
        if (row === undefined) throw new AppError('not_found', 'No open invitation with this id.');
        await transaction.deleteFrom('invitations').where('id', '=', id).execute();
        const event = { actor: admin, subject: id, from, at: now() };
        await recordEvent(transaction, { action: 'invitation_revoked', ...event });
      });
    },
  };
}

/** Stores an invitation for a user. Without a user it is a setup link, whose user chooses the username. */
async function insertInvitation(
  database: Database,
  at: number,
  person?: NewUser,
): Promise<{ readonly token: string; readonly row: InvitationsTable }> {
  const token = randomBytes(32).toString('base64url');
  const row: InvitationsTable = {
    id: randomUUID(),
    hash: hash('sha256', token),
    username: person?.username ?? null,
    username_key: person ? toUsernameKey(person.username) : null,
    display_name: person?.displayName ?? null,
    created_at: at,
    expires_at: at + LIFETIME_MS,
  };
  await database.insertInto('invitations').values(row).execute();
  return { token, row };
}

/**
 * Asserts that a username can be invited and registered: it is unused, or the access of its user was revoked.
 *
 * @throws AppError `conflict` when a user with this name has a passkey or a session.
 */
export async function assertUsernameAvailable(database: Database, username: string): Promise<void> {
  const person = await findUserRow(database, username);
  if (person === undefined) return;
  for (const table of ['passkeys', 'sessions'] as const) {
    const rows = database.selectFrom(table).select('person_id').where('person_id', '=', person.id);
    if ((await rows.limit(1).executeTakeFirst()) !== undefined) throw usernameTakenError(username);
  }
}

function selectOpen(database: Database, at: number) {
  const invitations = database.selectFrom('invitations').selectAll();
  return invitations.where('username_key', 'is not', null).where('expires_at', '>', at);
}

async function assertBelowLimit(transaction: Database, at: number): Promise<void> {
  const rows = await selectOpen(transaction, at).limit(MAX_OPEN).execute();
  if (rows.length < MAX_OPEN) return;
  throw new AppError('invalid_input', `You have reached the limit of ${MAX_OPEN} invitations. Revoke one first.`);
}

/** The rows always have names: only setup links have none, and {@link selectOpen} leaves them out. */
function toInvitation({ id, username, display_name, expires_at }: InvitationsTable): Invitation {
  return { id, username: username ?? '', displayName: display_name ?? '', expiresAt: new Date(expires_at) };
}

export interface SetupLink {
  /**
   * Creates the link for the first account, valid once and for an hour. Links of other servers stay valid.
   *
   * @param known The secret of an earlier link, which is kept while it is valid.
   * @returns the secret of the link, which is not stored; `undefined` once an account exists.
   */
  create(known?: string): Promise<string | undefined>;
}

export function createSetupLink(database: Database, now: () => number = Date.now): SetupLink {
  return {
    create: (known = '') =>
      inTransaction(database, async (transaction) => {
        if (!(await hasNoUsers(transaction))) return undefined;
        const links = transaction.selectFrom('invitations').select('id').where('username_key', 'is', null);
        const valid = links.where('expires_at', '>', now()).where('hash', '=', hash('sha256', known));
        if ((await valid.executeTakeFirst()) !== undefined) return known;
        return (await insertInvitation(transaction, now())).token;
      }),
  };
}

/** Returns whether no account exists yet. */
export async function hasNoUsers(database: Database): Promise<boolean> {
  return (await database.selectFrom('people').select('id').limit(1).executeTakeFirst()) === undefined;
}

interface Recovery {
  /**
   * Lets the operator of the server restore the access of a user who lost all passkeys, including the admin. Deletes the
   * user's sessions, passkeys and earlier links, and creates an invitation to the existing account. API tokens stay valid.
   *
   * @returns the username as stored, and the secret of the link, which is not stored.
   * @throws AppError `not_found` for an unknown username.
   */
  invite(username: string): Promise<{ readonly username: string; readonly token: string }>;
}

interface RecoveryDependencies {
  readonly passkeyListener: PasskeyListener;
  readonly now?: () => number;
}

export function createRecovery(
  database: Database,
  { passkeyListener, now = Date.now }: RecoveryDependencies,
): Recovery {
  return {
    invite: (username) =>
      inTransaction(database, async (transaction) => {
        const person = await findUserRow(transaction, username);
        if (person === undefined) throw new AppError('not_found', `No user named "${username}".`);
        const lost = transaction.deleteFrom('passkeys').where('person_id', '=', person.id).returning('id');
        for (const { id } of await lost.execute()) {
          const act = { actor: 'machine', personId: person.id, from: COMMAND_LINE_ACTOR, at: now() } as const;
          await passkeyListener(transaction, { action: 'delete', passkeyId: id, ...act });
        }
        for (const table of ['sessions', 'challenges'] as const) {
          await transaction.deleteFrom(table).where('person_id', '=', person.id).execute();
        }
        await deleteInvitations(transaction, person.username);
        const named = { username: person.username, displayName: person.display_name };
        const { token, row } = await insertInvitation(transaction, now(), named);
        const event = {
          actor: 'machine',
          personId: person.id,
          subject: row.id,
          from: COMMAND_LINE_ACTOR,
          at: now(),
        } as const;
        await recordEvent(transaction, { action: 'account_recovered', ...event });
        return { username: person.username, token };
      }),
  };
}
