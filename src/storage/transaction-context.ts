import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';

/** A transaction that functions join without receiving it as an argument. */
interface SharedTransaction<Database> {
  readonly transaction: Database;
  isOpen: boolean;
  /** The error of a joined transaction, because of which the whole transaction must be rolled back. */
  failure?: { readonly reason: unknown };
}

/** The transaction of the current asynchronous context. */
export interface TransactionContext<Database> {
  /** Returns the transaction that the current call has joined. */
  find(): SharedTransaction<Database> | undefined;
  /**
   * Runs `work` as part of a transaction.
   *
   * @throws the error of a joined transaction, even if `work` has caught it.
   */
  run<T>(transaction: Database, work: () => Promise<T>): Promise<T>;
}

export function createTransactionContext<Database>(): TransactionContext<Database> {
  const storage = new AsyncLocalStorage<SharedTransaction<Database>>();
  let running = 0;
  return {
    find() {
      const joined = storage.getStore();
      // Work that a transaction has started may outlive it, and then no longer belongs to it.
      return joined?.isOpen === true ? joined : undefined;
    },
    async run(transaction, work) {
      const joined: SharedTransaction<Database> = { transaction, isOpen: true };
      running += 1;
      try {
        const result = await storage.run(joined, work);
        if (joined.failure !== undefined) throw joined.failure.reason;
        return result;
      } finally {
        joined.isOpen = false;
        running -= 1;
        // An enabled AsyncLocalStorage doubles the cost of every promise of the process.
        if (running === 0) storage.disable();
      }
    },
  };
}

/**
 * Creates the database object that domain functions use. Inside of a shared transaction, it forwards to the
 * transaction.
 *
 * @param extra Additional properties of the object.
 */
export function withTransactionContext<T extends object>(
  root: Kysely<T>,
  joining: TransactionContext<Kysely<T>>,
  extra: object,
): Kysely<T> {
  return new Proxy(Object.assign(root, extra), {
    get(_target, key) {
      const database = joining.find()?.transaction ?? root;
      const value: unknown = Reflect.get(database, key, database) ?? Reflect.get(root, key, root);
      // Kysely's methods read private fields, which a proxy lacks, so they are bound. `fn` is not a method, but a
      // function with further functions as properties.
      return typeof value === 'function' && key !== 'fn' ? (value.bind(database) as unknown) : value;
    },
  });
}
