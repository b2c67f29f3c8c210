/** PostgreSQL behind Kysely, made to keep and to order values as SQLite does. */
import pg from 'pg';
import { ColumnDefinitionNode, PostgresDialect, PostgresQueryCompiler } from 'kysely';
import type { DataTypeNode, PostgresPool, PostgresPoolClient, QueryCompiler } from 'kysely';
import { AppError } from '../errors.js';
import { toBindable } from './bindable.js';

/**
 * A server takes 100 connections by default: enough for several of us, a backup
 * and the people who look after it. Transactions of one process take turns, so
 * more would only be for reads.
 */
const MAX_CONNECTIONS = 10;

/** Longer than a start of the server takes to answer; whoever asks is then told that it is away. */
const CONNECT_TIMEOUT_MS = 5_000;

/** A process that hangs, or whose machine is gone, lets go of what it has locked. */
const IDLE_IN_TRANSACTION = "set idle_in_transaction_session_timeout = '60s'";

/** A pool of connections to a server. Nothing is asked of it before the first query. */
export function postgresDialect(url: string): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: findParser },
  });
  // A connection that ends while nobody uses it is replaced when it is needed.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // Whoever is using it learns of it from the query.
    client.on('error', () => undefined);
    client.query(IDLE_IN_TRANSACTION).catch(() => undefined);
  });
  return new (class extends PostgresDialect {
    override createQueryCompiler(): QueryCompiler {
      return new AlikeCompiler();
    }
  })({ pool: toBindingPool(pool) });
}

/** Columns hold and order the same on both engines: numbers of 64 bits, and text by its bytes whatever the locale. */
const ALIKE: Readonly<Record<string, string>> = { blob: 'bytea', integer: 'bigint', text: 'text collate "C"' };

class AlikeCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    this.append((isColumn ? ALIKE[node.dataType] : undefined) ?? node.dataType);
  }
}

function toBindingPool(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => toBindingClient(await pool.connect().catch(refuse)),
    end: () => pool.end(),
  };
}

function toBindingClient(client: pg.PoolClient): PostgresPoolClient {
  let isBroken = false;
  const query = async (sql: string, parameters: readonly unknown[] = []) => {
    const values = parameters.map(toBindable);
    return client.query(sql, values).catch((error: unknown) => {
      isBroken ||= isEndOfConnection(error);
      if (isBroken) refuse(error);
      throw error;
    });
  };
  // Kysely asks for no cursors, which is the other form of its query().
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(isBroken) };
}

/**
 * Whether the server, or the network, let go. What a server says of a query
 * alone is of a lower severity, and a range is what we say of its answer.
 */
function isEndOfConnection(error: unknown): boolean {
  if (error instanceof RangeError) return false;
  const { severity } = error as { readonly severity?: string };
  return severity === undefined || severity === 'FATAL';
}

function refuse(cause: unknown): never {
  throw new AppError('unavailable', 'The database does not answer; try again later.', { cause });
}

type Parse = (text: string) => unknown;
type FindParser = (oid: number, format?: 'binary' | 'text') => Parse;

const { builtins } = pg.types;

const PARSERS = new Map<number, Parse>([
  [builtins.INT8, toNumber],
  // What sums of int8 are.
  [builtins.NUMERIC, toNumber],
  [builtins.BYTEA, toBytes],
]);

const findParser: FindParser = (oid, format) => PARSERS.get(oid) ?? (pg.types.getTypeParser as FindParser)(oid, format);

/** @throws RangeError for a number that would come out as another. */
function toNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) || !/^-?\d+$/.test(text)) return number;
  throw new RangeError(`Expected an integer of at most 2^53 in a column; it holds ${text}.`);
}

/** `\x` and hexadecimal digits. */
function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'));
}
