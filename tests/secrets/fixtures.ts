import type { Caller } from '../../src/accounts/callers.js';
import type { RequestOrigin } from '../../src/secrets/audit/chain.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { createSecretStore, type SecretCreation, type SecretStore } from '../../src/secrets/secret-store.js';
import { createVersionStore, type VersionStore } from '../../src/secrets/versions.js';
import type { Database } from '../../src/storage/database.js';
import { openTestDatabase } from '../storage/engine.js';
import { ageValue } from './age-files.js';

export const DAY_MS = 86_400_000;
export const START = Date.parse('2026-05-01T08:00:00Z');

const person = { personId: 'p', username: 'ada', isAdmin: true };
export const owner: Caller = { kind: 'session', sessionId: 's', startedAt: Number.POSITIVE_INFINITY, ...person };
export const script: Caller = { kind: 'token', tokenId: 't1', scopes: ['write'], ...person };
export const stranger: Caller = { ...owner, personId: 'q', username: 'bob', isAdmin: false };
export const consumer = (name: string): Caller => ({ kind: 'consumer_token', tokenId: `c-${name}`, consumer: name });

/** The secrets of a new database, and a clock that the test sets. */
export interface SecretsFixtures {
  readonly database: Database;
  readonly objects: SecretStore;
  readonly versions: VersionStore;
  /** Advances the clock. */
  advance(milliseconds: number): void;
  now(): number;
  /** Returns the origin of a request at the current time; by default from the owner. */
  from(caller?: Caller): RequestOrigin;
  add(object?: Partial<SecretCreation>, caller?: Caller): ReturnType<SecretStore['create']>;
  /** Returns the entries of the audit log, each as `action slug`. */
  listActions(): Promise<string[]>;
}

export async function openFixtures(): Promise<SecretsFixtures> {
  const database = await openTestDatabase();
  // Changes that give lasting access require that the session of the owner is still open.
  const { personId: id, username } = person;
  await database
    .insertInto('people')
    .values({ id, username, username_key: username, display_name: 'Ada', is_admin: 1, created_at: START })
    .execute();
  const session = { id_hash: 's', person_id: 'p', created_at: START, expires_at: Number.MAX_SAFE_INTEGER };
  await database
    .insertInto('sessions')
    .values({ ...session, browser: null, last_used_at: START })
    .execute();
  let at = START;
  const now = (): number => at;
  const from = (caller: Caller = owner): RequestOrigin => ({ caller, ip: '192.0.2.7', at });
  const objects = createSecretStore(database, now);
  return {
    database,
    objects,
    versions: createVersionStore(database),
    advance: (milliseconds) => void (at += milliseconds),
    now,
    from,
    add: (object, caller) => objects.create({ slug: 'a', value: ageValue(), ...object }, from(caller)),
    async listActions() {
      await sequenceAuditEntries(database);
      const rows = await database.selectFrom('audit_log').select(['action', 'slug']).orderBy('id').execute();
      return rows.map(({ action, slug }) => `${action} ${slug ?? ''}`);
    },
  };
}
