import { randomUUID } from 'node:crypto';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { toUsernameKey } from '../storage/username-key.js';

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

export interface People {
  /** The first person to come is the admin. @throws AppError `conflict` when the name is taken, in either case. */
  add(person: NewPerson): Promise<Person>;
  findByUsername(username: string): Promise<Person | undefined>;
}

export function createPeople(database: Database, now: () => number = Date.now): People {
  return {
    add: (person) => inTransaction(database, (transaction) => add(transaction, person, now())),
    async findByUsername(username) {
      const row = await database
        .selectFrom('people')
        .selectAll()
        .where('username_key', '=', toUsernameKey(username))
        .executeTakeFirst();
      return row && toPerson(row);
    },
  };
}

async function add(transaction: Database, { username, displayName }: NewPerson, createdAt: number): Promise<Person> {
  const usernameKey = toUsernameKey(username);
  const people = transaction.selectFrom('people').select('id');
  if ((await people.where('username_key', '=', usernameKey).executeTakeFirst()) !== undefined) {
    throw new AppError('conflict', 'Expected a username that is free; this one is taken.', { field: 'username' });
  }
  const isFirst = (await people.limit(1).executeTakeFirst()) === undefined;
  const row = {
    id: randomUUID(),
    username,
    username_key: usernameKey,
    display_name: displayName,
    is_admin: isFirst ? 1 : 0,
    created_at: createdAt,
  };
  await transaction.insertInto('people').values(row).execute();
  return toPerson(row);
}

interface Row {
  readonly id: string;
  readonly username: string;
  readonly display_name: string;
  readonly is_admin: number;
  readonly created_at: number;
}

function toPerson({ id, username, display_name, is_admin, created_at }: Row): Person {
  return { id, username, displayName: display_name, isAdmin: is_admin === 1, createdAt: new Date(created_at) };
}
