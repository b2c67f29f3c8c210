import { AppError } from '@trellis/core/errors';
import { type Caller, requireOwner } from '../accounts/callers.js';
import { type Database, inTransaction } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { parsePublicKey, toKeyFingerprint } from './age-format.js';
import { appendAuditEntries, type AuditDetail, type NewAuditEntry, type RequestOrigin } from './audit/chain.js';
import {
  assertConsumerExists,
  consumerExists,
  removeConsumer,
  renameConsumer,
  revokeConsumerTokens,
  savePublicKey,
  removeRulesOfConsumer,
} from './consumer-changes.js';
import { findRestrictions, requireUnrestricted } from './token-scope.js';

export interface Consumer {
  readonly name: string;
  /** The number of secrets that name the consumer. */
  readonly secretCount: number;
  readonly publicKey: string | undefined;
}

interface ConsumerFilter {
  /** A part of the name, regardless of case. */
  readonly text?: string;
  /** Starts at 1. */
  readonly page?: number;
  readonly pageSize?: number;
}

interface ConsumerPage {
  readonly consumers: readonly Consumer[];
  /** The number of matches on all pages. */
  readonly total: number;
  /** The number of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

/** The changes of a consumer; an empty text counts as absent. */
interface ConsumerUpdate {
  readonly name?: string;
  readonly publicKey?: string;
}

/** The consumers: all names in secrets, and all names that were added. All methods require the owner. */
export interface ConsumerStore {
  listNames(caller: Caller | undefined): Promise<string[]>;
  list(caller: Caller | undefined, filter: ConsumerFilter): Promise<ConsumerPage>;
  /** @throws AppError `conflict` for an existing name; `invalid_input` for an invalid name or key, and at the limit. */
  add(origin: RequestOrigin, consumer: { readonly name: string; readonly publicKey?: string }): Promise<Consumer>;
  /**
   * Renames a consumer in all secrets and tokens, or merges it with the consumer that has the new name, and then sets
   * its public key. A public key for an unknown name adds the consumer. A token can't replace a public key.
   *
   * @throws AppError `not_found` for an unknown name; `conflict` when two variants of a slug would share the consumer,
   * in which case nothing is changed; `invalid_input` for an invalid name or key, and when both are absent;
   * `session_required` when a token replaces the public key.
   */
  update(origin: RequestOrigin, name: string, update: ConsumerUpdate): Promise<Consumer>;
  /** Removes a consumer from all secrets, and revokes its tokens. @throws AppError `not_found` for an unknown name. */
  remove(origin: RequestOrigin, name: string): Promise<void>;
}

const DEFAULT_PAGE_SIZE = 20;

/** The limit for added consumers; more machines than one user manages. */
const MAX_CONSUMERS = 10_000;

export function createConsumerStore(database: Database): ConsumerStore {
  return {
    async listNames(caller) {
      requireOwner(caller);
      return (await readNames(database)).filter((name) => isListed(caller, name));
    },
    async list(caller, { text = '', page = 1, pageSize = DEFAULT_PAGE_SIZE }) {
      requireOwner(caller);
      // Database engines lower-case non-ASCII letters differently, so the names are compared here.
      const wanted = text.toLowerCase();
      const names = (await readNames(database)).filter(
        (name) => isListed(caller, name) && name.toLowerCase().includes(wanted),
      );
      const shown = names.slice((page - 1) * pageSize, page * pageSize);
      const consumers = shown.length === 0 ? [] : await withDetails(database, shown);
      return { consumers, total: names.length, next: page * pageSize < names.length ? page + 1 : undefined };
    },
    async add(origin, { name, publicKey = '' }) {
      requireUnrestricted(origin.caller);
      parseConsumerName(name);
      const key = publicKey === '' ? undefined : parsePublicKey(publicKey);
      return inTransaction(database, async (transaction) => {
        if (await consumerExists(transaction, name))
          throw new AppError('conflict', 'consumer already exists', { field: 'name' });
        await assertBelowLimit(transaction);
        await transaction.insertInto('secret_consumers').values({ name, public_key: null }).execute();
        const set =
          key === undefined ? undefined : await savePublicKey(transaction, { name, publicKey: key }, origin.caller);
        const detail = set && toKeyDetail(publicKey, set);
        await record(transaction, origin, [{ ...toEntry('create', name), detail }]);
        return readConsumer(transaction, name);
      });
    },
    async update(origin, name, update) {
      requireUnrestricted(origin.caller);
      const wanted = parseUpdate(update);
      return inTransaction(database, async (transaction) => {
        const renamed = wanted.name === undefined ? [] : await rename(transaction, origin, [name, wanted.name]);
        const current = wanted.name ?? name;
        const keyed =
          wanted.publicKey === undefined ? [] : await setKey(transaction, origin, [current, wanted.publicKey]);
        await record(transaction, origin, [...renamed, ...keyed]);
        return readConsumer(transaction, current);
      });
    },
    async remove(origin, name) {
      requireUnrestricted(origin.caller);
      await inTransaction(database, async (transaction) => {
        await assertConsumerExists(transaction, name);
        await removeConsumer(transaction, name);
        const revoked = await revokeConsumerTokens(transaction, name, origin.at);
        const entries = revoked.map(
          (subjectId) => ({ action: 'revoke', subjectType: 'consumer_token', subjectId }) as const,
        );
        const rules = (await removeRulesOfConsumer(transaction, name)).map(
          (subjectId) => ({ action: 'delete', subjectType: 'workload_rule', subjectId }) as const,
        );
        await record(transaction, origin, [toEntry('delete', name), ...entries, ...rules]);
      });
    },
  };
}

/** A token that is restricted to some consumers sees only these. Their public keys are needed to encrypt values. */
function isListed(caller: Caller | undefined, name: string): boolean {
  return findRestrictions(caller)?.consumers?.includes(name) ?? true;
}

function parseUpdate({ name = '', publicKey = '' }: ConsumerUpdate): ConsumerUpdate {
  if (name === '' && publicKey === '') {
    throw new AppError('invalid_input', 'Send name, public_key or both.', { field: 'body' });
  }
  return {
    name: name === '' ? undefined : parseConsumerName(name),
    publicKey: publicKey === '' ? undefined : parsePublicKey(publicKey),
  };
}

async function rename(
  transaction: Database,
  { caller }: RequestOrigin,
  [from, to]: readonly [from: string, to: string],
): Promise<NewAuditEntry[]> {
  await assertConsumerExists(transaction, from);
  if (from === to) return [];
  const action = (await consumerExists(transaction, to)) ? 'merge' : 'rename';
  await renameConsumer(transaction, { from, to }, caller);
  return [{ ...toEntry(action, to), previousName: from }];
}

async function setKey(
  transaction: Database,
  { caller }: RequestOrigin,
  [name, publicKey]: readonly [name: string, publicKey: string],
): Promise<NewAuditEntry[]> {
  const isNew = !(await consumerExists(transaction, name));
  if (isNew) {
    // The name is a path parameter, which is not validated for existing consumers.
    parseConsumerName(name);
    await assertBelowLimit(transaction);
  }
  const set = await savePublicKey(transaction, { name, publicKey }, caller);
  return set ? [{ ...toEntry(isNew ? 'create' : 'update', name), detail: toKeyDetail(publicKey, set) }] : [];
}

function toKeyDetail(publicKey: string, { previousKey }: { readonly previousKey: string | undefined }): AuditDetail {
  return {
    key: toKeyFingerprint(publicKey),
    ...(previousKey !== undefined && { previousKey: toKeyFingerprint(previousKey) }),
  };
}

const toEntry = <Action extends string>(action: Action, name: string) =>
  ({ action, subjectType: 'consumer', subjectId: name }) as const;

async function record(transaction: Database, origin: RequestOrigin, entries: readonly NewAuditEntry[]): Promise<void> {
  await appendAuditEntries(
    transaction,
    entries.map((entry) => ({ entry, origin })),
  );
}

async function assertBelowLimit(transaction: Database): Promise<void> {
  const added = transaction.selectFrom('secret_consumers').select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = await added.executeTakeFirstOrThrow();
  if (count < MAX_CONSUMERS) return;
  throw new AppError(
    'invalid_input',
    `You have reached the limit of ${MAX_CONSUMERS} added consumers. Delete one first.`,
  );
}

async function readConsumer(database: Database, name: string): Promise<Consumer> {
  const [consumer] = await withDetails(database, [name]);
  return consumer ?? { name, secretCount: 0, publicKey: undefined };
}

async function readNames(database: Database): Promise<string[]> {
  // A loose index scan, whose time grows with the names, not with the secrets.
  const { rows } = await sql<{ name: string }>`
    with recursive used (name) as (
      select min(consumer) from secret_object_consumers
      union all
      select (select min(consumer) from secret_object_consumers where consumer > used.name)
      from used where used.name is not null
    )
    select name from used where name is not null union select name from secret_consumers order by name`.execute(
    database,
  );
  return rows.map(({ name }) => name);
}

async function withDetails(database: Database, names: readonly string[]): Promise<Consumer[]> {
  const keys = await database.selectFrom('secret_consumers').selectAll().where('name', 'in', names).execute();
  const counts = await database
    .selectFrom('secret_object_consumers')
    .select(({ fn }) => ['consumer', fn.countAll<number>().as('count')])
    .where('consumer', 'in', names)
    .groupBy('consumer')
    .execute();
  return names.map((name) => ({
    name,
    secretCount: counts.find(({ consumer }) => consumer === name)?.count ?? 0,
    publicKey: keys.find((key) => key.name === name)?.public_key ?? undefined,
  }));
}

/** In characters; the contract has the same limit. */
const MAX_LENGTH = 128;

/** Visible characters with single spaces between them; neither `.` nor `..`. */
const PART = String.raw`(?!\.{1,2}(?:/|$))[^\s\p{C}/]+(?: [^\s\p{C}/]+)*`;
const NAME = new RegExp(`^${PART}(?:/${PART})*$`, 'u');

/**
 * Validates the name of a consumer. It appears in URL paths, so its parts between slashes are never empty, `.` or `..`.
 * Control and format characters are invalid, and so is white space except for single spaces inside a part. All letters
 * are allowed and compared without normalization: names that only look alike are different names.
 *
 * @throws AppError `invalid_input` for an invalid name.
 */
export function parseConsumerName(text: string, field = 'name'): string {
  if (Array.from(text).length <= MAX_LENGTH && NAME.test(text)) return text;
  const message = `Expected ${field} to be a consumer name: 1 to ${MAX_LENGTH} visible characters, parts separated by "/".`;
  throw new AppError('invalid_input', message, { field });
}
