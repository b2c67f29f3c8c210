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
 * Returns the statements that set the limits of a transaction. They are part of each transaction, and no statement has a
 * name, because connections of a pooler such as PgBouncer do not keep the state of a session.
 */
function toSettings({ hasDeadlines, ...target }: PostgresOptions): string {
  const { lockSeconds, statementSeconds, idleSeconds } = { ...LIMITS, ...target };
  const seconds = hasDeadlines
    ? {
        lock_timeout: lockSeconds,
        statement_timeout: statementSeconds,
        idle_in_transaction_session_timeout: idleSeconds,
      }
    : // Work without deadlines takes its time.
      { idle_in_transaction_session_timeout: 60 };
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
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined);
  }
}

async function openPool(options: PostgresOptions): Promise<pg.Pool> {
  const { url, poolSize = DEFAULT_POOL_SIZE, statementSeconds = LIMITS.statementSeconds, hasDeadlines } = options;
  // Loaded when it is used, as most servers store user data in SQLite.
  const { default: driver } = await import('pg');
  const pool = new driver.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(hasDeadlines && { query_timeout: statementSeconds * 1000 + STATEMENT_GRACE_MS }),
    keepAlive: true,
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
  return {
    connect: async () => toBindingClient(await pool.connect().catch(throwUnavailable)),
    end: () => pool.end(),
  };
}

function toBindingClient(client: pg.PoolClient): PostgresPoolClient {
  let failure: unknown;
  const query = async (sql: string, parameters: readonly unknown[] = []) => {
    // A statement without a response blocks the connection, so the next one would wait for its own deadline.
    if (failure !== undefined) throwUnavailable(failure);
    const values = parameters.map(toBindable);
    return client.query(sql, values).catch((error: unknown) => {
      if (isEndOfConnection(error)) failure = error;
      if (failure !== undefined || isLimitReached(error)) throwUnavailable(error);
      throw error;
    });
  };
  // The other overload of query() is for cursors, which Kysely does not use here.
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(failure !== undefined),
  };
}

/** The error codes of a lock that is not released in time, and of a statement that takes too long. */
const LIMIT_CODES: readonly unknown[] = ['55P03', '57014'];

const isLimitReached = (error: unknown): boolean => LIMIT_CODES.includes((error as { readonly code?: unknown }).code);

/**
 * Returns whether an error means that the connection has ended. Errors of a query have a lower severity than FATAL, and
 * range errors come from {@link toNumber}.
 */
function isEndOfConnection(error: unknown): boolean {
  if (error instanceof RangeError) return false;
  const { severity } = error as { readonly severity?: string };
  return severity === undefined || severity === 'FATAL';
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
