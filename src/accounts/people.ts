import { randomUUID } from 'node:crypto';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { PeopleTable } from '../storage/tables.js';
import { toUsernameKey } from '../storage/username-key.js';
import type { Caller, SessionCaller } from './callers.js';
import { recordEvent } from './events.js';
import { requireAdminSession, requirePerson } from './scopes.js';

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly isAdmin: boolean;
  readonly createdAt: Date;
}

export interface NewPerson {
  readonly username: string;
  readonly displayName: string;
}

/** What concerns the account of another is for an admin's session only: `session_required` or `forbidden` otherwise. */
export interface People {
  /** The first person to come is the admin. @throws AppError `conflict` when the name is taken, in either case. */
  add(person: NewPerson): Promise<Person>;
  findByUsername(username: string): Promise<Person | undefined>;
  /** Who calls, in person or through a token. @throws AppError `unauthenticated` for nobody. */
  read(caller: Caller | undefined): Promise<Person>;
  /** By username. */
  list(caller: Caller | undefined): Promise<Person[]>;
  /**
   * Takes a person's sessions, passkeys, tokens and feeds away. What they stored stays,
   * and so does their name: a new invitation for it leads back to the account.
   *
   * @throws AppError `not_found` for an unknown name, `invalid_input` for the caller's own.
   */
  revoke(caller: Caller | undefined, username: string, from: string): Promise<void>;
  /** Removes a person with everything that is theirs. The name is free again. @throws AppError like {@link revoke}. */
  remove(caller: Caller | undefined, username: string, from: string): Promise<void>;
}

export function createPeople(database: Database, now: () => number = Date.now): People {
  return {
    add: (person) => inTransaction(database, (transaction) => addPerson(transaction, person, now())),
    async findByUsername(username) {
      const row = await findPersonRow(database, username);
      return row && toPerson(row);
    },
    async read(caller) {
      const { personId } = requirePerson(caller);
      const people = database.selectFrom('people').selectAll();
      return toPerson(await people.where('id', '=', personId).executeTakeFirstOrThrow());
    },
    async list(caller) {
      requireAdminSession(caller);
      const rows = await database.selectFrom('people').selectAll().execute();
      // Not by the database: engines and their locales order text differently.
      return rows.toSorted((one, other) => (one.username_key < other.username_key ? -1 : 1)).map(toPerson);
    },
    async revoke(caller, username, from) {
      const admin = requireAdminSession(caller);
      await inTransaction(database, async (transaction) => {
        const { id: personId } = await findOther(transaction, admin, username);
        for (const table of ['sessions', 'passkeys', 'tokens', 'feeds', 'challenges'] as const) {
          await transaction.deleteFrom(table).where('person_id', '=', personId).execute();
        }
        const event = { actor: admin, personId, subject: username, from, at: now() };
        await recordEvent(transaction, { action: 'account_revoked', ...event });
      });
    },
    async remove(caller, username, from) {
      const admin = requireAdminSession(caller);
      await inTransaction(database, async (transaction) => {
        const { id: personId } = await findOther(transaction, admin, username);
        await transaction.deleteFrom('people').where('id', '=', personId).execute();
        const event = { actor: admin, personId, subject: username, from, at: now() };
        await recordEvent(transaction, { action: 'account_removed', ...event });
      });
    },
  };
}

/** In the caller's transaction. @throws AppError `conflict` when the name is taken, in either case. */
export async function addPerson(
  transaction: Database,
  { username, displayName }: NewPerson,
  createdAt: number,
): Promise<Person> {
  if ((await findPersonRow(transaction, username)) !== undefined) throw refuseTaken();
  const first = await transaction.selectFrom('people').select('id').limit(1).executeTakeFirst();
  const row = {
    id: randomUUID(),
    username,
    username_key: toUsernameKey(username),
    display_name: displayName,
    is_admin: first === undefined ? 1 : 0,
    created_at: createdAt,
  };
  await transaction.insertInto('people').values(row).execute();
  return toPerson(row);
}

export function refuseTaken(): AppError {
  return new AppError('conflict', 'Expected a username that is free; this one is taken.', { field: 'username' });
}

/** By their name, in any case. */
export async function findPersonRow(database: Database, username: string): Promise<PeopleTable | undefined> {
  const people = database.selectFrom('people').selectAll();
  return people.where('username_key', '=', toUsernameKey(username)).executeTakeFirst();
}

async function findOther(transaction: Database, admin: SessionCaller, username: string): Promise<PeopleTable> {
  const row = await findPersonRow(transaction, username);
  if (row === undefined) throw new AppError('not_found', 'Expected the username of an account; there is none.');
  if (row.id !== admin.personId) return row;
  throw new AppError('invalid_input', 'Expected the account of another; this one is yours.', { field: 'username' });
}

export function toPerson({ id, username, display_name, is_admin, created_at }: PeopleTable): Person {
  return { id, username, displayName: display_name, isAdmin: is_admin === 1, createdAt: new Date(created_at) };
}
