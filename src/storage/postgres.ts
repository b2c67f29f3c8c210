/** The Kysely dialect for PostgreSQL, which stores and orders values like SQLite. */
import { AppError } from '@trellis/core/errors';
import type { DataTypeNode, PostgresPool, PostgresPoolClient, QueryCompiler } from 'kysely';
import type pg from 'pg';
import { ColumnDefinitionNode, PostgresDialect, PostgresQueryCompiler } from './kysely.js';
import { toBindable } from './sqlite.js';

/**
 * PostgreSQL accepts 100 connections by default, which is enough for several servers, a backup and administrators.
 * Transactions of one process run one at a time, so more connections would serve reads only.
 */
const MAX_CONNECTIONS = 10;

/** Longer than a reachable server needs to accept a connection. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Releases the locks of a process that hangs or whose machine has failed. */
const IDLE_IN_TRANSACTION = "set idle_in_transaction_session_timeout = '60s'";

/**
 * Creates a pool of connections to a server. The first query opens the first connection.
 *
 * @param onOpen Receives the pool once it exists.
 */
export function postgresDialect(url: string, onOpen?: (pool: pg.Pool) => void): PostgresDialect {
  return new (class extends PostgresDialect {
    override createQueryCompiler(): QueryCompiler {
      return new PortableCompiler();
    }
  })({
    async pool() {
      const pool = await openPool(url);
      onOpen?.(pool);
      return toBindingPool(pool);
    },
  });
}

async function openPool(url: string): Promise<pg.Pool> {
  // Loaded when it is used, as most servers store user data in SQLite.
  const { default: driver } = await import('pg');
  const pool = new driver.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: createParserFinder(driver.types) },
  });
  // The pool replaces a failed idle connection when the next query needs one.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // The query that uses the connection reports the error.
    client.on('error', () => undefined);
    client.query(IDLE_IN_TRANSACTION).catch(() => undefined);
  });
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
  let isBroken = false;
  const query = async (sql: string, parameters: readonly unknown[] = []) => {
    const values = parameters.map(toBindable);
    return client.query(sql, values).catch((error: unknown) => {
      isBroken ||= isEndOfConnection(error);
      if (isBroken) throwUnavailable(error);
      throw error;
    });
  };
  // The other overload of query() is for cursors, which Kysely does not use here.
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(isBroken) };
}

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
  throw new AppError('unavailable', 'The database is unavailable. Retry later.', { cause });
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
