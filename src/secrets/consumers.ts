import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import type { Database } from '../storage/database.js';

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

/** Every name that an object is used by, and every name that was added. */
export interface Consumers {
  listNames(caller: Caller | undefined): Promise<string[]>;
  list(caller: Caller | undefined, filter: ConsumerFilter): Promise<ConsumerPage>;
  /** Adds a name, or gives it another key. */
  add(name: string, publicKey?: string): Promise<void>;
}

const DEFAULT_PAGE_SIZE = 20;

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
    async add(name, publicKey) {
      const row = { public_key: publicKey ?? null };
      await database
        .insertInto('secret_consumers')
        .values({ name, ...row })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute();
    },
  };
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
