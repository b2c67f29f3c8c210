/** The Kysely dialect for PostgreSQL, which stores and orders values like SQLite. */
import { AppError } from '@trellis/core/errors';
import type {
  DatabaseConnection,
  DataTypeNode,
  Driver,
  PostgresDialectConfig,
  PostgresPool,
  PostgresPoolClient,
  QueryCompiler,
  TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import {
  ColumnDefinitionNode,
  CompiledQuery,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
} from './kysely.js';
import { toBindable } from './sqlite.js';

/** PostgreSQL accepts 100 connections by default, which is enough for several servers, a backup and administrators. */
const DEFAULT_POOL_SIZE = 10;

/**
 * Statements without a deadline notice a connection that was cut by probes after this time, of which ten may fail, a second
 * each. The default of Linux is two hours.
 */
const KEEP_ALIVE_MS = 30_000;

/** Longer than a reachable server needs to accept a connection, or than the pool needs to get one back. */
const CONNECT_TIMEOUT_MS = 4_000;

/** The limits of PostgreSQL for each transaction of a request, in seconds. */
interface PostgresLimits {
  /** How long a transaction waits for a lock. */
  readonly lockSeconds: number;
  /** How long a statement runs. */
  readonly statementSeconds: number;
  /** How long a hanging process, or one whose machine has failed, keeps its locks. */
  readonly idleSeconds: number;
}

const LIMITS: PostgresLimits = { lockSeconds: 2, statementSeconds: 4, idleSeconds: 3 };

/**
 * A server that has not answered a statement for this much longer than the limit of statements counts as unavailable. A
 * server that works reports the limit itself.
 */
const STATEMENT_GRACE_MS = 1_000;

export interface PostgresTarget extends Partial<PostgresLimits> {
  readonly url: string;
  /** The largest number of connections, which is the number of transactions at a time. */
  readonly poolSize?: number;
}

interface PostgresOptions extends PostgresTarget {
  /** Whether statements fail after some seconds. */
  readonly hasDeadlines: boolean;
  /** Receives the pool once it exists. */
  readonly onOpen?: (pool: pg.Pool) => void;
}

/** Creates a pool of connections to a server. The first query opens the first connection. */
export function postgresDialect(options: PostgresOptions): PostgresDialect {
  const config = {
    async pool() {
      const pool = await openPool(options);
      options.onOpen?.(pool);
      return toBindingPool(pool);
    },
  };
  const setLimits = toSettings(options);
  return new (class extends PostgresDialect {
    override createQueryCompiler(): QueryCompiler {
      return new PortableCompiler();
    }
    override createDriver(): Driver {
      return new LimitingDriver(config, setLimits);
    }
  })(config);
}

/**
 * Returns the statements that set the limits of a transaction. They are part of each transaction, because connections of
 * a pooler such as PgBouncer do not keep the state of a session.
 */
function toSettings({ hasDeadlines, ...target }: PostgresOptions): string {
  const { lockSeconds, statementSeconds, idleSeconds } = { ...LIMITS, ...target };
  const seconds = hasDeadlines
    ? {
        lock_timeout: lockSeconds,
        statement_timeout: statementSeconds,
        idle_in_transaction_session_timeout: idleSeconds,
      }
    : // Work without deadlines takes its time, whatever the limits of the role are.
      { lock_timeout: 0, statement_timeout: 0, idle_in_transaction_session_timeout: 60 };
  return Object.entries(seconds)
    .map(([name, value]) => `; set local ${name} = '${value}s'`)
    .join('');
}

/** Begins transactions with limits, in one round trip. */
class LimitingDriver extends PostgresDriver {
  readonly #setLimits: string;

  constructor(config: PostgresDialectConfig, setLimits: string) {
    super(config);
    this.#setLimits = setLimits;
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    { isolationLevel, accessMode }: TransactionSettings,
  ): Promise<void> {
    const isolation = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
    const begin = `begin${isolation}${accessMode === undefined ? '' : ` ${accessMode}`}${this.#setLimits}`;
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  /** Keeps the error that the transaction failed with: a rollback fails only with the connection, which ends it too. */
  override async rollbackTransaction(connection: Parameters<PostgresDriver['rollbackTransaction']>[0]): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined);
  }
}

async function openPool(options: PostgresOptions): Promise<pg.Pool> {
  const { url, poolSize = DEFAULT_POOL_SIZE, statementSeconds = LIMITS.statementSeconds, hasDeadlines } = options;
  // Loaded when it is used, as most servers store user data in SQLite.
  const { default: driver } = await import('pg');
  /** Closes the connection if the client can't sign in, as without a password, which the driver does not. */
  class Client extends driver.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      this.connection.on('error', () => this.connection.stream.destroy());
    }
  }
  const pool = new driver.Pool({
    Client,
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(hasDeadlines && { query_timeout: statementSeconds * 1000 + STATEMENT_GRACE_MS }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser: createParserFinder(driver.types) },
  });
  // The pool replaces a failed idle connection when the next query needs one.
  pool.on('error', () => undefined);
  // The query that uses the connection reports the error.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The column types that behave like those of SQLite: integers of 64 bits, and text ordered by its bytes. */
const COLUMN_TYPES: Readonly<Record<string, string>> = { blob: 'bytea', integer: 'bigint', text: 'text collate "C"' };

class PortableCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    this.append((isColumn ? COLUMN_TYPES[node.dataType] : undefined) ?? node.dataType);
  }
}

function toBindingPool(pool: pg.Pool): PostgresPool {
  const names = new StatementNames();
  return {
    async connect() {
      // The driver reads certificates before it returns a promise.
      const connecting = Promise.resolve().then(() => pool.connect());
      const client = await connecting.catch((error: unknown) => throwUnavailable(toConnectError(error)));
      await names.check(client).catch((error: unknown) => {
        client.release(true);
        throwUnavailable(error);
      });
      return toBindingClient(client, names);
    },
    end: () => pool.end(),
  };
}

/** Returns an error that is not one of the own disk, for a file that the URL names and that can't be read, such as a certificate. */
function toConnectError(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || (syscall !== 'open' && code !== 'EISDIR')) return error;
  return new Error(`a file that the URL names can't be read: ${code}`);
}

function toBindingClient(client: pg.PoolClient, names: StatementNames): PostgresPoolClient {
  let failure: unknown;
  const run = async (text: string, values: unknown[]): Promise<unknown> => {
    const name = names.find(client, text);
    if (name === undefined) return client.query(text, values);
    return client.query({ name, text, values }).catch(async (error: unknown) => {
      if (!isPlanLost(error)) throw error;
      names.renew();
      // Inside a transaction, this fails because of the first error, after which the transaction is repeated.
      return client.query(text, values).catch(() => {
        throw error;
      });
    });
  };
  const query = async (sql: string, parameters: readonly unknown[] = []) => {
    // A statement without a response blocks the connection, so the next one would wait for its own deadline.
    if (failure !== undefined) throwUnavailable(failure);
    return run(sql, parameters.map(toBindable)).catch((error: unknown) => {
      if (isEndOfConnection(error)) failure = error;
      if (failure !== undefined || isUnavailable(error)) throwUnavailable(error);
      throw error;
    });
  };
  // The other overload of query() is for cursors, which Kysely does not use here.
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(failure !== undefined),
  };
}

/** The statements that connections keep parsed and planned, with their numbers. */
const KEPT_STATEMENTS = new Map<string, number>();

/**
 * Lets connections keep a statement, because parsing and planning take longer than running most statements. There must
 * be few of them, as each connection keeps each.
 */
export function keepStatement(text: string): void {
  if (!KEPT_STATEMENTS.has(text)) KEPT_STATEMENTS.set(text, KEPT_STATEMENTS.size + 1);
}

/**
 * The names under which connections keep statements. A pooler such as PgBouncer may give the connection to others between
 * two statements, so connections through one keep none.
 */
class StatementNames {
  readonly #isDirect = new WeakMap<pg.PoolClient, boolean>();
  #generation = 1;

  /** Finds out whether a new connection leads to PostgreSQL itself. */
  async check(client: pg.PoolClient): Promise<void> {
    if (!this.#isDirect.has(client)) this.#isDirect.set(client, await isDirect(client));
  }

  find(client: pg.PoolClient, text: string): string | undefined {
    const number = this.#isDirect.get(client) === true ? KEPT_STATEMENTS.get(text) : undefined;
    return number === undefined ? undefined : `trellis_${this.#generation}_${number}`;
  }

  /** Makes all connections parse their statements again. */
  renew(): void {
    this.#generation += 1;
  }
}

/** Returns whether a connection leads to PostgreSQL itself: a pooler reports a number of its own as that of the process. */
export async function isDirect(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === (client as unknown as { readonly processID: number | null }).processID;
}

/** The error codes for a plan whose columns a migration has changed, and for a name that the connection does not know. */
const PLAN_LOST: readonly unknown[] = ['0A000', '26000'];

const isPlanLost = (error: unknown): boolean => PLAN_LOST.includes((error as { readonly code?: unknown }).code);

/**
 * The error codes of a lock that is not released in time, of a statement that takes too long, of missing resources such as
 * disk space (class 53), and of a failing disk.
 */
const UNAVAILABLE = /^(?:55P03|57014|53...|58030)$/;

const isUnavailable = (error: unknown): boolean =>
  UNAVAILABLE.test(String((error as { readonly code?: unknown }).code));

/** The error code of a write on a standby. After a failover, new connections lead to the server that accepts writes. */
const READ_ONLY = '25006';

/**
 * Returns whether an error means that the connection has ended, or is of no more use. Errors of a query have a lower severity
 * than FATAL, and range errors come from {@link toNumber}.
 */
function isEndOfConnection(error: unknown): boolean {
  if (error instanceof RangeError) return false;
  const { severity, code } = error as { readonly severity?: string; readonly code?: unknown };
  return severity === undefined || severity === 'FATAL' || code === READ_ONLY;
}

function throwUnavailable(cause: unknown): never {
  const headers = { 'Retry-After': '2' };
  throw new AppError('unavailable', 'The database is unavailable. Retry later.', { cause, headers });
}

type Parse = (text: string) => unknown;
type FindParser = (oid: number, format?: 'binary' | 'text') => Parse;

function createParserFinder({ builtins, getTypeParser }: typeof pg.types): FindParser {
  const parsers = new Map<number, Parse>([
    [builtins.INT8, toNumber],
    // The type of sums of int8.
    [builtins.NUMERIC, toNumber],
    [builtins.BYTEA, toBytes],
  ]);
  return (oid, format) => parsers.get(oid) ?? (getTypeParser as FindParser)(oid, format);
}

/** @throws RangeError for an integer that a number can't represent exactly. */
function toNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) || !/^-?\d+$/.test(text)) return number;
  throw new RangeError(`Expected an integer of at most 2^53 in a column; received ${text}.`);
}

/** Parses the hex format of bytea: `\x` and hexadecimal digits. */
function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'));
}
