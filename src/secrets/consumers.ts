import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import { appendAudits, inAuditedTransaction } from './audit-chain.js';
import type { NewAuditEntry } from './audit-actions.js';
import { isKnown, moveConsumer, requireKnown, revokeTokensOf, storeKey, stripConsumer } from './consumer-changes.js';
import { parseConsumerName, parsePublicKey } from './consumer-names.js';

export interface Consumer {
  readonly name: string;
  /** How many objects name it. */
  readonly secretCount: number;
  readonly publicKey: string | undefined;
}

export interface ConsumerFilter {
  /** Part of the name, in either case. */
  readonly text?: string | undefined;
  /** From 1. */
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
}

export interface ConsumerPage {
  readonly consumers: readonly Consumer[];
  /** How many match, over all pages. */
  readonly total: number;
  /** The number of the next page; `undefined` on the last. */
  readonly next: number | undefined;
}

/** An empty text counts as absent. */
export interface ConsumerUpdate {
  readonly name?: string | undefined;
  readonly publicKey?: string | undefined;
}

/** Every name that an object is used by, and every name that was added. For the owner alone. */
export interface Consumers {
  listNames(caller: Caller | undefined): Promise<string[]>;
  list(caller: Caller | undefined, filter: ConsumerFilter): Promise<ConsumerPage>;
  /** @throws AppError `conflict` for a name that is known, `invalid_input` for one that is none, or too many. */
  add(origin: Origin, consumer: { readonly name: string; readonly publicKey?: string | undefined }): Promise<Consumer>;
  /**
   * Renames it everywhere, or makes it one with the consumer that has the name
   * already, and then registers its key. Its tokens come along. A key for a name
   * that nobody knows makes the entry.
   *
   * @throws AppError `not_found` for an unknown name; `conflict`, and nothing is
   * changed, when two variants of an object would share the consumer;
   * `invalid_input` for a name or key that is none, and for neither.
   */
  update(origin: Origin, name: string, update: ConsumerUpdate): Promise<Consumer>;
  /** Takes it out of every object, and revokes its tokens. @throws AppError `not_found` for an unknown name. */
  remove(origin: Origin, name: string): Promise<void>;
}

const DEFAULT_PAGE_SIZE = 20;

/** Of those that were added; more machines than one person looks after. */
const MAX_CONSUMERS = 10_000;

export function createConsumers(database: Database): Consumers {
  return {
    async listNames(caller) {
      requireOwner(caller);
      return readNames(database);
    },
    async list(caller, { text = '', page = 1, pageSize = DEFAULT_PAGE_SIZE }) {
      requireOwner(caller);
      // Engines differ in what they lower beyond ASCII, so names are compared here.
      const wanted = text.toLowerCase();
      const names = (await readNames(database)).filter((name) => name.toLowerCase().includes(wanted));
      const shown = names.slice((page - 1) * pageSize, page * pageSize);
      const consumers = shown.length === 0 ? [] : await withDetails(database, shown);
      return { consumers, total: names.length, next: page * pageSize < names.length ? page + 1 : undefined };
    },
    async add(origin, { name, publicKey = '' }) {
      requireOwner(origin.caller);
      const row = { name: parseConsumerName(name), public_key: publicKey === '' ? null : parsePublicKey(publicKey) };
      return inAuditedTransaction(database, async (transaction) => {
        if (await isKnown(transaction, name))
          throw new AppError('conflict', 'consumer already exists', { field: 'name' });
        await requireRoom(transaction);
        await transaction.insertInto('secret_consumers').values(row).execute();
        await record(transaction, origin, [toEntry('create', name)]);
        return readConsumer(transaction, name);
      });
    },
    async update(origin, name, update) {
      requireOwner(origin.caller);
      const wanted = parseUpdate(update);
      return inAuditedTransaction(database, async (transaction) => {
        const renamed = wanted.name === undefined ? [] : await rename(transaction, name, wanted.name);
        const current = wanted.name ?? name;
        const keyed = wanted.publicKey === undefined ? [] : await setKey(transaction, current, wanted.publicKey);
        await record(transaction, origin, [...renamed, ...keyed]);
        return readConsumer(transaction, current);
      });
    },
    async remove(origin, name) {
      requireOwner(origin.caller);
      await inAuditedTransaction(database, async (transaction) => {
        await requireKnown(transaction, name);
        await stripConsumer(transaction, name);
        const revoked = await revokeTokensOf(transaction, name, origin.at);
        const entries = revoked.map(
          (subjectId) => ({ action: 'revoke', subjectType: 'consumer_token', subjectId }) as const,
        );
        await record(transaction, origin, [toEntry('delete', name), ...entries]);
      });
    },
  };
}

function parseUpdate({ name = '', publicKey = '' }: ConsumerUpdate): ConsumerUpdate {
  if (name === '' && publicKey === '') {
    throw new AppError('invalid_input', 'Expected name, public_key or both; neither came.', { field: 'body' });
  }
  return {
    name: name === '' ? undefined : parseConsumerName(name),
    publicKey: publicKey === '' ? undefined : parsePublicKey(publicKey),
  };
}

async function rename(transaction: Database, from: string, to: string): Promise<NewAuditEntry[]> {
  await requireKnown(transaction, from);
  if (from === to) return [];
  const action = (await isKnown(transaction, to)) ? 'merge' : 'rename';
  await moveConsumer(transaction, from, to);
  return [{ ...toEntry(action, to), previousName: from }];
}

async function setKey(transaction: Database, name: string, publicKey: string): Promise<NewAuditEntry[]> {
  const isNew = !(await isKnown(transaction, name));
  if (isNew) {
    // It came in the path, where the names of those that are there are not looked at.
    parseConsumerName(name);
    await requireRoom(transaction);
  }
  const isChanged = await storeKey(transaction, name, publicKey);
  return isChanged ? [toEntry(isNew ? 'create' : 'update', name)] : [];
}

const toEntry = <Action extends string>(action: Action, name: string) =>
  ({ action, subjectType: 'consumer', subjectId: name }) as const;

async function record(transaction: Database, origin: Origin, entries: readonly NewAuditEntry[]): Promise<void> {
  await appendAudits(
    transaction,
    entries.map((entry) => ({ entry, origin })),
  );
}

async function requireRoom(transaction: Database): Promise<void> {
  const added = transaction.selectFrom('secret_consumers').select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = await added.executeTakeFirstOrThrow();
  if (count < MAX_CONSUMERS) return;
  throw new AppError('invalid_input', `Expected at most ${MAX_CONSUMERS} consumers to be added; delete some first.`);
}

async function readConsumer(database: Database, name: string): Promise<Consumer> {
  const [consumer] = await withDetails(database, [name]);
  return consumer ?? { name, secretCount: 0, publicKey: undefined };
}

async function readNames(database: Database): Promise<string[]> {
  const rows = await database
    .selectFrom('secret_consumers')
    .select('name')
    .union(database.selectFrom('secret_object_consumers').select('consumer as name'))
    .orderBy('name')
    .execute();
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
