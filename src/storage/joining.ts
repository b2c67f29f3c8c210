import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';

/** A transaction that is joined by whatever is called while it runs. */
interface Joined<Database> {
  readonly transaction: Database;
  isOpen: boolean;
  /** Why a part of it came to nothing, so that the rest may not be kept either. */
  failure?: { readonly reason: unknown };
}

/** Lets calls join a transaction without being handed it. */
export interface Joining<Database> {
  /** The transaction that the current call is part of. */
  find(): Joined<Database> | undefined;
  /** Runs `work` as part of a transaction. @throws what failed inside, even if `work` got over it. */
  run<T>(transaction: Database, work: () => Promise<T>): Promise<T>;
}

export function createJoining<Database>(): Joining<Database> {
  const storage = new AsyncLocalStorage<Joined<Database>>();
  let running = 0;
  return {
    find() {
      const joined = storage.getStore();
      // What was started in a transaction and outlives it is on its own.
      return joined?.isOpen === true ? joined : undefined;
    },
    async run(transaction, work) {
      const joined: Joined<Database> = { transaction, isOpen: true };
      running += 1;
      try {
        const result = await storage.run(joined, work);
        if (joined.failure !== undefined) throw joined.failure.reason;
        return result;
      } finally {
        joined.isOpen = false;
        running -= 1;
        // While it is on, every promise of the process takes twice as long.
        if (running === 0) storage.disable();
      }
    },
  };
}

/**
 * The database as domain functions hold it: whatever they ask of it while a
 * transaction is joined is asked of that transaction.
 *
 * @param extra Properties that it has besides.
 */
export function joinable<T extends object>(root: Kysely<T>, joining: Joining<Kysely<T>>, extra: object): Kysely<T> {
  return new Proxy(Object.assign(root, extra), {
    get(_target, key) {
      const database = joining.find()?.transaction ?? root;
      const value: unknown = Reflect.get(database, key, database) ?? Reflect.get(root, key, root);
      // Kysely's methods read private fields, which a proxy does not have; `fn` is no method, but a function with others on it.
      return typeof value === 'function' && key !== 'fn' ? (value.bind(database) as unknown) : value;
    },
  });
}
