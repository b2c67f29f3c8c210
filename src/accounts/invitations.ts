import { randomBytes, randomUUID } from 'node:crypto';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { InvitationsTable } from '../storage/tables.js';
import { toUsernameKey } from '../storage/username-key.js';
import type { Caller } from './callers.js';
import { recordEvent } from './events.js';
import { findPersonRow, refuseTaken } from './people.js';
import type { NewPerson } from './people.js';
import { requireAdminSession } from './scopes.js';
import { hashSecret } from './token-format.js';
import { parseDisplayName, parseUsername } from './usernames.js';

/** Links of both kinds hold for an hour. */
const LIFETIME_MS = 3_600_000;

/** More than anybody hands out within the hour that each is good for. */
const MAX_OUTSTANDING = 100;

export interface Invitation {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly expiresAt: Date;
}

/** For an admin's session only: `session_required` or `forbidden` otherwise. */
export interface Invitations {
  /**
   * Invites one person, once, within an hour.
   *
   * @returns the invitation and its secret, which is not kept and never shown again.
   * @throws AppError `conflict` when the name is taken, `invalid_input` for
   * a name that can't be one, or when 100 are outstanding.
   */
  create(caller: Caller | undefined, person: NewPerson, from: string): Promise<Invitation & { readonly token: string }>;
  /** Those that still hold, oldest first. */
  list(caller: Caller | undefined): Promise<Invitation[]>;
  /** @throws AppError `not_found` for an id that is unknown, used, expired or revoked. */
  revoke(caller: Caller | undefined, id: string, from: string): Promise<void>;
}

export function createInvitations(database: Database, now: () => number = Date.now): Invitations {
  return {
    async create(caller, { username, displayName }, from) {
      const admin = requireAdminSession(caller);
      const person = { username: parseUsername(username), displayName: parseDisplayName(displayName) };
      return inTransaction(database, async (transaction) => {
        await requireFree(transaction, person.username);
        await requireRoom(transaction, now());
        const { token, row } = await addLink(transaction, now(), person);
        const event = { actor: admin, subject: row.id, from, at: now() };
        await recordEvent(transaction, { action: 'invitation_created', ...event });
        return { ...toInvitation(row), token };
      });
    },
    async list(caller) {
      requireAdminSession(caller);
      return (await outstanding(database, now()).orderBy('created_at').orderBy('id').execute()).map(toInvitation);
    },
    async revoke(caller, id, from) {
      const admin = requireAdminSession(caller);
      await inTransaction(database, async (transaction) => {
        const row = await outstanding(transaction, now()).where('id', '=', id).executeTakeFirst();
        if (row === undefined) throw new AppError('not_found', 'Expected the id of an invitation that still holds.');
        await transaction.deleteFrom('invitations').where('id', '=', id).execute();
        const event = { actor: admin, subject: id, from, at: now() };
        await recordEvent(transaction, { action: 'invitation_revoked', ...event });
      });
    },
  };
}

/** Stores a link that lets one person in; without a person it is a setup link, and whoever comes chooses the name. */
export async function addLink(
  database: Database,
  at: number,
  person?: NewPerson,
): Promise<{ readonly token: string; readonly row: InvitationsTable }> {
  const token = randomBytes(32).toString('base64url');
  const row: InvitationsTable = {
    id: randomUUID(),
    hash: hashSecret(token),
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
 * The account of somebody who was put out is as free as a name that nobody has.
 *
 * @throws AppError `conflict` for a name under which somebody can sign in, or is signed in.
 */
export async function requireFree(database: Database, username: string): Promise<void> {
  const person = await findPersonRow(database, username);
  if (person === undefined) return;
  for (const table of ['passkeys', 'sessions'] as const) {
    const held = database.selectFrom(table).select('person_id').where('person_id', '=', person.id);
    if ((await held.limit(1).executeTakeFirst()) !== undefined) throw refuseTaken();
  }
}

function outstanding(database: Database, at: number) {
  const invitations = database.selectFrom('invitations').selectAll();
  return invitations.where('username_key', 'is not', null).where('expires_at', '>', at);
}

async function requireRoom(transaction: Database, at: number): Promise<void> {
  const rows = await outstanding(transaction, at).limit(MAX_OUTSTANDING).execute();
  if (rows.length < MAX_OUTSTANDING) return;
  throw new AppError('invalid_input', `Expected at most ${MAX_OUTSTANDING} invitations; revoke one first.`);
}

/** Setup links have no name; they are not among what is asked for here. */
function toInvitation({ id, username, display_name, expires_at }: InvitationsTable): Invitation {
  return { id, username: username ?? '', displayName: display_name ?? '', expiresAt: new Date(expires_at) };
}
