import type { Database } from '../storage/database.js';
import { createPeople } from './people.js';
import type { People } from './people.js';
import { createSessions } from './sessions.js';
import type { Sessions } from './sessions.js';
import { createPersonalTokens } from './tokens.js';
import type { PersonalTokens } from './tokens.js';

export interface Accounts {
  readonly people: People;
  readonly sessions: Sessions;
  readonly tokens: PersonalTokens;
}

export function createAccounts(database: Database, now: () => number = Date.now): Accounts {
  return {
    people: createPeople(database, now),
    sessions: createSessions(database, now),
    tokens: createPersonalTokens(database, now),
  };
}
