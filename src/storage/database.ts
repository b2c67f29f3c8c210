import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConcurrencyLimit, limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { FAULT_TEXTS, findStorageFault, type StorageFault } from '@trellis/core/storage';
import type { StatementWatch } from '@trellis/core/telemetry';
import type { LogEvent, Logger } from 'kysely';
import { CompiledQuery, Kysely, PostgresAdapter } from './kysely.js';
import { postgresDialect, type PostgresTarget } from './postgres.js';
import { sqliteDialect } from './sqlite.js';
import type { Tables } from './tables.js';

/** The database of the user data: accounts, boards and secrets. */
export type Database = Kysely<Tables>;

/** A SQLite file, or `:memory:`; or a PostgreSQL database, whose URL contains the password. */
export type DatabaseTarget = PostgresTarget | { readonly file: string };

export interface ConnectOptions {
  /**
   * Whether statements on PostgreSQL fail after some seconds, as requests need it. Migrations, backups and checks may
   * take longer.
   */
  readonly hasDeadlines?: boolean;
  /** Receives slow statements. */
  readonly watch?: StatementWatch;
}

/**
 * The key of the data that {@link connectDatabase} attaches to a database; a symbol can't collide with Kysely's names.
 */
const PARTS = Symbol('parts');

interface Parts {
  /** Repeats one failed transaction of this process at a time, so that they do not conflict with each other again. */
  readonly repeatInTurn: ConcurrencyLimit;
  readonly joining: TransactionContext;
  /** The pool of PostgreSQL, once it is open. */
  pool?: Readonly<Record<'idleCount' | 'totalCount' | 'waitingCount', number>>;
}

/** Connects to a database without any checks. */
export function connectDatabase(place: DatabaseTarget, options: ConnectOptions = {}): Database {
  const { hasDeadlines = true, watch } = options;
  const joining = createTransactionContext();
  const parts: Parts = { repeatInTurn: limitConcurrency(1), joining };
  const onOpen = (pool: NonNullable<Parts['pool']>) => (parts.pool = pool);
  const dialect = 'url' in place ? postgresDialect({ ...place, hasDeadlines, onOpen }) : sqliteDialect(place.file);
  const log: Logger | undefined = watch && ((event) => reportStatement(root, event, watch));
  const root = new Kysely<Tables>({ dialect, ...(log && { log }) });
  return withTransactionContext(root, joining, { [PARTS]: parts });
}

/** Statements with a plan; others begin and end transactions, or change tables. */
const HAS_PLAN = /^\s*(?:delete|insert|select|update|with)\b/i;

/**
 * Reports a statement, and its plan if it took long.
 *
 * @param root The database itself, which explains the statement outside of any transaction.
 */
function reportStatement(
  root: Database,
  { query, queryDurationMillis }: LogEvent,
  { slowMs, onSlow, onStatement }: StatementWatch,
): void {
  const { sql: text, parameters } = query;
  onStatement?.(text, queryDurationMillis);
  if (queryDurationMillis < slowMs || !HAS_PLAN.test(text)) return;
  onSlow({ text, milliseconds: queryDurationMillis, explain: () => explain(root, text, parameters) });
}

/** Returns the plan of a statement, one step per line, without the values that PostgreSQL shows in it. */
async function explain(root: Database, text: string, parameters: readonly unknown[]): Promise<string> {
  const prefix = isPostgres(root) ? 'explain' : 'explain query plan';
  const query = CompiledQuery.raw(`${prefix} ${text}`, [...parameters]);
  const { rows } = await root.executeQuery<Readonly<Record<string, unknown>>>(query);
  const steps = rows.map((row) => String(row.detail ?? row['QUERY PLAN']));
  return steps.join('\n').replaceAll(/'(?:[^']|'')*'/g, "'…'");
}

/** The connections of a pool, and the calls that wait for one. */
interface PoolCounts {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Counts the connections to PostgreSQL; `undefined` for SQLite, which has one, and before the first query. */
export function countConnections(database: Database): PoolCounts | undefined {
  const { pool } = findParts(database) ?? {};
  if (pool === undefined) return undefined;
  const { totalCount, idleCount, waitingCount } = pool;
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** Returns whether the database is PostgreSQL; otherwise it is SQLite. */
export function isPostgres(database: Database): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Runs `work` in one transaction, which is rolled back if `work` throws. Inside of a transaction, `work` joins it, so
 * domain functions can call each other.
 *
 * Transactions are serializable: each one behaves as if it ran alone, so the data that `work` has read is still current
 * when it writes. On PostgreSQL, several run at a time, and `work` is repeated after a conflict, so its
 * other effects must be repeatable.
 *
 * Inside of `work`, query only the given transaction: any other query would wait for the transaction to end, which is a
 * deadlock. {@link runInSharedTransaction} has no such rule.
 *
 * @param isolation `read committed` suits work on PostgreSQL that needs no protection from concurrent changes, or that
 * locks the rows which it reads. It is never repeated for changes by others.
 */
export async function inTransaction<T>(
  database: Database,
  work: (transaction: Database) => Promise<T>,
  isolation: 'read committed' | 'serializable' = 'serializable',
): Promise<T> {
  if (database.isTransaction) return join(database, work);
  // SQLite has one connection, which runs one transaction at a time.
  if (!isPostgres(database)) return database.transaction().execute(work);
  const run = () => database.transaction().setIsolationLevel(isolation).execute(work);
  return retrySerializationFailures(run, findParts(database)?.repeatInTurn);
}

/**
 * Runs `work` in one transaction that all functions called by `work` join, although they use the database itself. If a
 * transaction inside fails, everything is rolled back, and this function throws its error.
 *
 * Other writers may wait for the transaction, so `work` must not wait for other servers.
 */
export async function runInSharedTransaction<T>(database: Database, work: () => Promise<T>): Promise<T> {
  return inTransaction(database, (transaction) => runShared(database, transaction, work));
}

/**
 * Like {@link runInSharedTransaction}, unless `find` returns a result, which is then returned instead. On PostgreSQL,
 * `find` runs outside of the transaction, before each try, so that its reading does not conflict with other writers; a
 * result that exists by then makes `work` fail with a duplicate key.
 */
export async function findOrRunInSharedTransaction<T>(
  database: Database,
  find: () => Promise<{ readonly found: T } | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  if (database.isTransaction || !isPostgres(database)) {
    return runInSharedTransaction(database, async () => {
      const stored = await find();
      return stored === undefined ? work() : stored.found;
    });
  }
  const attempt = async (): Promise<T> => {
    const stored = await find();
    if (stored !== undefined) return stored.found;
    try {
      return await database
        .transaction()
        .setIsolationLevel('serializable')
        .execute((transaction) => runShared(database, transaction, work));
    } catch (error) {
      // A different process may have committed the same work since `find`, which can be the reason for the failure.
      const mayBeLate = error instanceof AppError && error.code !== 'unavailable';
      const late = mayBeLate ? await find() : undefined;
      if (late !== undefined) return late.found;
      throw error;
    }
  };
  return retrySerializationFailures(attempt, findParts(database)?.repeatInTurn);
}

async function runShared<T>(database: Database, transaction: Database, work: () => Promise<T>): Promise<T> {
  const parts = findParts(database);
  return parts === undefined || transaction === database ? work() : parts.joining.run(transaction, work);
}

/** Reads from a snapshot of the database, without blocking writers. */
export async function inSnapshot<T>(database: Database, read: (snapshot: Database) => Promise<T>): Promise<T> {
  const transaction = database.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return transaction.execute(read);
}

async function join<T>(transaction: Database, work: (transaction: Database) => Promise<T>): Promise<T> {
  try {
    return await work(transaction);
  } catch (reason) {
    const joined = findParts(transaction)?.joining.find();
    if (joined !== undefined) joined.failure ??= { reason };
    throw reason;
  }
}

/** Returns `undefined` for a transaction, and for a database that {@link connectDatabase} has not created. */
function findParts(database: Database): Parts | undefined {
  return (database as Partial<Readonly<Record<typeof PARTS, Parts>>>)[PARTS];
}

/** A transaction that functions join without receiving it as an argument. */
interface SharedTransaction {
  readonly transaction: Database;
  isOpen: boolean;
  /** The error of a joined transaction, because of which the whole transaction must be rolled back. */
  failure?: { readonly reason: unknown };
}

/** The transaction of the current asynchronous context. */
interface TransactionContext {
  /** Returns the transaction that the current call has joined. */
  find(): SharedTransaction | undefined;
  /**
   * Runs `work` as part of a transaction.
   *
   * @throws the error of a joined transaction, even if `work` has caught it.
   */
  run<T>(transaction: Database, work: () => Promise<T>): Promise<T>;
}

function createTransactionContext(): TransactionContext {
  const storage = new AsyncLocalStorage<SharedTransaction>();
  let running = 0;
  return {
    find() {
      const joined = storage.getStore();
      // Work that a transaction has started may outlive it, and then no longer belongs to it.
      return joined?.isOpen === true ? joined : undefined;
    },
    async run(transaction, work) {
      const joined: SharedTransaction = { transaction, isOpen: true };
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
function withTransactionContext(root: Database, joining: TransactionContext, extra: object): Database {
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

/**
 * The PostgreSQL error codes of conflicting transactions: a serialization failure, a deadlock, and a unique key that
 * two transactions inserted at the same time; and of a plan that a connection kept until a migration changed a table.
 */
const CONFLICTS = ['40001', '40P01', '23505', '0A000', '26000'];

/** Repetitions of one process run one at a time, so few tries are needed. */
const MAX_TRIES = 10;
const FIRST_WAIT_MS = 5;
const MAX_WAIT_MS = 200;

/**
 * Repeats a transaction as long as it fails because of a concurrent one.
 *
 * @throws AppError `unavailable` after too many conflicts. A duplicate key is thrown unchanged in that case, because it
 * may not be due to a conflict.
 */
async function retrySerializationFailures<T>(run: () => Promise<T>, repeatInTurn?: ConcurrencyLimit): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await (tries === 1 || repeatInTurn === undefined ? run() : repeatInTurn(run));
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tries === MAX_TRIES) throw toFailure(error);
    }
    // Full jitter, so that the conflicting transactions do not meet again.
    await sleep(Math.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
  }
}

function isConflict(error: unknown): error is Error & { readonly code: string } {
  return typeof error === 'object' && error !== null && 'code' in error && CONFLICTS.includes(String(error.code));
}

function toFailure(error: Error & { readonly code: string }): Error {
  if (error.code === '23505') return error;
  const options = { cause: error, headers: { 'Retry-After': '1' } };
  return new AppError('unavailable', 'The database is busy. Retry in a second.', options);
}

/** A failure to use the database that an operator can fix. The message contains no part of the database URL. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** The messages for PostgreSQL error codes. */
const REASONS: Readonly<Record<string, string>> = {
  '25006': 'the PostgreSQL server is a standby, or the database is read-only',
  '28000': 'the PostgreSQL server rejected the user',
  '28P01': 'the PostgreSQL server rejected the password',
  '3D000': 'the database does not exist',
  '3F000': 'no schema of the search path exists',
  '40001': 'the database is busy; retry in a second',
  '42501': 'the user is not allowed to create or to use the tables',
  '53100': 'the disk of the PostgreSQL server is full',
  '53300': 'the PostgreSQL server has no free connections',
  '55P03': 'a different transaction has locked the data; retry in a second',
  '57014': 'the PostgreSQL server took too long for a statement',
  '57P03': 'the PostgreSQL server is starting up or shutting down',
};

/** The advice for faults of a SQLite database, whose data can't be derived again. */
const FAULT_ADVICE: Readonly<Partial<Record<StorageFault, string>>> = {
  damaged: 'restore a backup with "trellis restore --force", which keeps the damaged file',
  full: 'free some space',
};

/** Converts errors that an operator can fix to a {@link DatabaseError}. Returns other errors unchanged. */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  const fault = findStorageFault(error);
  if (fault !== undefined) {
    const advice = FAULT_ADVICE[fault];
    const text = `trellis.db: ${FAULT_TEXTS[fault]}${advice === undefined ? '' : `; ${advice}`}`;
    return new DatabaseError(text, { cause: error });
  }
  const { code, message, severity } = causeOf(error) as Partial<Record<'code' | 'message' | 'severity', unknown>>;
  const reason = REASONS[String(code)];
  if (reason !== undefined) return new DatabaseError(reason, { cause: error });
  if (!isUnavailable(error)) return error;
  if (String(message).includes('client password must be'))
    return new DatabaseError('the PostgreSQL server requires a password', { cause: error });
  // Only an error of the server has a severity.
  if (severity !== undefined)
    return new DatabaseError(`the PostgreSQL server reports: ${String(message)}`, { cause: error });
  return new DatabaseError(`the PostgreSQL server can't be reached: ${String(code ?? message)}`, { cause: error });
}

/** Returns whether the error means that no connection was available, which the pool wraps in an AppError. */
const isUnavailable = (error: unknown): error is AppError => error instanceof AppError && error.code === 'unavailable';

const causeOf = (error: unknown): unknown => (isUnavailable(error) ? error.cause : error) ?? {};
