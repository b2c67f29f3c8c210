import { randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../storage/database.js';
import { type PageRequest, printCursor, toPageStart } from '../storage/list-cursor.js';
import { type PeopleTable, toUsernameKey } from '../storage/tables.js';
import { type Caller, requireAdminSession, requireUser, type SessionCaller } from './callers.js';
import { COMMAND_LINE_ACTOR, recordEvent } from './events.js';

export interface User {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly isAdmin: boolean;
  readonly createdAt: Date;
}

interface UserPage {
  readonly users: readonly User[];
  /** The number of all users. */
  readonly total: number;
  /** The cursor of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

export interface NewUser {
  readonly username: string;
  readonly displayName: string;
}

/**
 * Manages user accounts. `list`, `revoke` and `remove` require an admin's session; other callers get `session_required`
 * or `forbidden`.
 */
export interface UserStore {
  /**
   * Adds a user. The first one becomes the admin.
   *
   * @throws AppError `conflict` when the username is taken, regardless of case.
   */
  add(person: NewUser): Promise<User>;
  findByUsername(username: string): Promise<User | undefined>;
  /** Reads the user of a session or API token. @throws AppError `unauthenticated` for other callers. */
  read(caller: Caller | undefined): Promise<User>;
  /** Lists users by username. */
  list(caller: Caller | undefined, page?: PageRequest): Promise<UserPage>;
  /**
   * Deletes a user's sessions, passkeys, API tokens, feeds, notification channels and open invitations, which an attacker
   * may have added. The account and its other data stay; a new invitation for the username restores the access to it.
   *
   * @throws AppError `not_found` for an unknown username, `invalid_input` for the caller's own.
   */
  revoke(caller: Caller | undefined, username: string, from: string): Promise<void>;
  /** Deletes a user with all data, which frees the username. @throws AppError like {@link revoke}. */
  remove(caller: Caller | undefined, username: string, from: string): Promise<void>;
}

/** What gives access to the data of a user, or sends it. */
const GRANTS = ['sessions', 'passkeys', 'tokens', 'feeds', 'notification_channels', 'challenges'] as const;

export function createUserStore(database: Database, now: () => number = Date.now): UserStore {
  return {
    add: (person) => inTransaction(database, (transaction) => insertUser(transaction, person, now())),
    async findByUsername(username) {
      const row = await findUserRow(database, username);
      return row && toUser(row);
    },
    async read(caller) {
      const { personId } = requireUser(caller);
      const people = database.selectFrom('people').selectAll();
      return toUser(await people.where('id', '=', personId).executeTakeFirstOrThrow());
    },
    async list(caller, page = {}) {
      requireAdminSession(caller);
      return listUsers(database, page);
    },
    async revoke(caller, username, from) {
      const admin = requireAdminSession(caller);
      await inTransaction(database, async (transaction) => {
        const { id: personId } = await getPersonRow(transaction, username);
        assertNotSelf(admin, personId, "You can't revoke your own access.");
        for (const table of GRANTS) {
          await transaction.deleteFrom(table).where('person_id', '=', personId).execute();
        }
        await deleteInvitations(transaction, username);
        const event = { actor: admin, personId, subject: username, from, at: now() };
        await recordEvent(transaction, { action: 'account_revoked', ...event });
      });
    },
    async remove(caller, username, from) {
      const admin = requireAdminSession(caller);
      await inTransaction(database, async (transaction) => {
        const { id: personId } = await getPersonRow(transaction, username);
        assertNotSelf(admin, personId, "You can't remove your own account.");
        await transaction.deleteFrom('people').where('id', '=', personId).execute();
        await deleteInvitations(transaction, username);
        const event = { actor: admin, personId, subject: username, from, at: now() };
        await recordEvent(transaction, { action: 'account_removed', ...event });
      });
    },
  };
}

/** Deletes the open invitations and recovery links for a username. */
export async function deleteInvitations(transaction: Database, username: string): Promise<void> {
  await transaction.deleteFrom('invitations').where('username_key', '=', toUsernameKey(username)).execute();
}

const DEFAULT_LIMIT = 1_000;

async function listUsers(database: Database, { limit = DEFAULT_LIMIT, ...request }: PageRequest): Promise<UserPage> {
  const start = toPageStart(request, isUsernameKey);
  const all = database.selectFrom('people');
  let page = all.selectAll().orderBy('username_key');
  if (start.key === undefined) page = page.offset(start.position);
  else page = page.where('username_key', '>', start.key[0]);
  const found = await page.limit(limit + 1).execute();
  const rows = found.slice(0, limit);
  const total =
    start.total ?? (await all.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count;
  const last = found.length > limit ? rows.at(-1) : undefined;
  const position = start.position + rows.length;
  const next = last && printCursor({ key: [last.username_key], position, total });
  return { users: rows.map(toUser), total, next };
}

function isUsernameKey(key: readonly unknown[]): key is readonly [string] {
  return key.length === 1 && typeof key[0] === 'string';
}

/**
 * Creates the admin of a server without a browser. The account has no passkey; a recovery link adds one. Setup links
 * become invalid.
 *
 * @throws AppError `conflict` when an account exists, `invalid_input` for an invalid name.
 */
export async function createAdmin(database: Database, person: NewUser, now: () => number = Date.now): Promise<User> {
  const admin = { username: parseUsername(person.username), displayName: parseDisplayName(person.displayName) };
  return inTransaction(database, async (transaction) => {
    const first = await transaction.selectFrom('people').select('id').limit(1).executeTakeFirst();
    if (first !== undefined) throw new AppError('conflict', 'The server has an account already.');
    await transaction.deleteFrom('invitations').where('username', 'is', null).execute();
    const user = await insertUser(transaction, admin, now());
    const { id: personId, username: subject } = user;
    const event = { actor: 'machine', personId, subject, from: COMMAND_LINE_ACTOR, at: now() } as const;
    await recordEvent(transaction, { action: 'account_created', ...event });
    return user;
  });
}

/**
 * Inserts a user in the transaction of the calling code.
 *
 * @throws AppError `conflict` when the username is taken, regardless of case.
 */
export async function insertUser(
  transaction: Database,
  { username, displayName }: NewUser,
  createdAt: number,
): Promise<User> {
  if ((await findUserRow(transaction, username)) !== undefined) throw usernameTakenError(username);
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
  return toUser(row);
}

export function usernameTakenError(username: string): AppError {
  return new AppError('conflict', `The username "${username}" is already taken.`, { field: 'username' });
}

/** Finds a user by username, regardless of case. */
export async function findUserRow(database: Database, username: string): Promise<PeopleTable | undefined> {
  const people = database.selectFrom('people').selectAll();
  return people.where('username_key', '=', toUsernameKey(username)).executeTakeFirst();
}

async function getPersonRow(transaction: Database, username: string): Promise<PeopleTable> {
  const row = await findUserRow(transaction, username);
  if (row !== undefined) return row;
  throw new AppError('not_found', `No user named "${username}".`);
}

function assertNotSelf(admin: SessionCaller, personId: string, message: string): void {
  if (personId === admin.personId) throw new AppError('invalid_input', message, { field: 'username' });
}

export function toUser({ id, username, display_name, is_admin, created_at }: PeopleTable): User {
  return { id, username, displayName: display_name, isAdmin: is_admin === 1, createdAt: new Date(created_at) };
}

/** Lengths in characters, as in the contract. Names are shown in tables and are part of URLs. */
const MAX_USERNAME = 64;
const MAX_DISPLAY_NAME = 100;
const MAX_LABEL = 100;

/** Control and format characters, which can make different names look the same, and unpaired surrogates. */
const INVISIBLE = /\p{C}/u;

/** The same without the joiners, which Persian and many emoji need. Such texts identify nobody. */
const INVISIBLE_IN_TEXT = /[^\P{C}\u{200C}\u{200D}]/u;

/**
 * Parses the username of a new account: normalises it to NFC and trims it.
 *
 * @throws AppError `invalid_input` when it is blank, longer than 64 characters, contains invisible characters, or is a part of
 * a path that clients resolve.
 */
export function parseUsername(text: string): string {
  const name = parseName(text, { field: 'username', maxLength: MAX_USERNAME, invisible: INVISIBLE });
  if (name !== '.' && name !== '..') return name;
  throw new AppError('invalid_input', `A username can't be "${name}".`, { field: 'username' });
}

/** Parses a display name of at most 100 characters. @throws AppError `invalid_input` as {@link parseUsername} does. */
export function parseDisplayName(text: string): string {
  return parseName(text, { field: 'displayName', maxLength: MAX_DISPLAY_NAME, invisible: INVISIBLE_IN_TEXT });
}

/** Parses the name of a passkey or token. @throws AppError `invalid_input` as {@link parseDisplayName} does. */
export function parseLabel(text: string): string {
  return parseName(text, { field: 'label', maxLength: MAX_LABEL, invisible: INVISIBLE_IN_TEXT });
}

interface NameRule {
  readonly field: string;
  readonly maxLength: number;
  readonly invisible: RegExp;
}

function parseName(text: string, { field, maxLength, invisible }: NameRule): string {
  const name = text.normalize('NFC').trim();
  const isVisible = /[^\p{C}\s]/u.test(name) && !invisible.test(name);
  if (isVisible && Array.from(name).length <= maxLength) return name;
  throw new AppError('invalid_input', `Expected ${field} to be 1 to ${maxLength} visible characters.`, { field });
}
