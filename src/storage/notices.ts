/** Messages between the processes of one PostgreSQL database, by LISTEN and NOTIFY. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type Database, DatabaseError, isPostgres } from './database.js';
import { sql } from './kysely.js';
import { isDirect } from './postgres.js';

/** Passes the names of changed things to the other processes. A message may be lost, so readers poll as well. */
export interface Notices {
  /** Whether messages of other processes arrive now. */
  readonly isListening: boolean;
  /** Sends a name to the other processes soon. Call it after the change is committed. */
  send(name: string): void;
  /** Adds a function that receives the names that other processes send. */
  onReceived(listener: (name: string) => void): void;
  close(): Promise<void>;
}

interface NoticesOptions {
  /** A URL that leads to PostgreSQL itself, or to a pooler in session mode. */
  readonly url: string;
  /** Receives a sentence when messages can't be received, and when they can again. */
  readonly report: (message: string) => void;
}

const CHANNEL = 'trellis_changes';

/** Changes of a moment are sent together. */
const BATCH_MS = 5;

/** PostgreSQL's limit of a message is 8,000 bytes; a name with its sender has fewer than 100. */
const MAX_NAMES = 70;

/** A connection that was cut without notice is found by a query that gets no response. */
const CHECK_MS = 15_000;
const RESPONSE_MS = 5_000;
const RECONNECT_MS = 2_000;

const APPLICATION_NAME = 'trellis notices';

/** A pooler stays one, so it is asked again only because settings of the network may change. */
const POOLER_MS = 10 * 60_000;

export function openNotices(database: Database, options: NoticesOptions): Notices {
  return new PostgresNotices(database, options);
}

/**
 * Ensures that no server listens on a PostgreSQL database, whose servers have state folders with locks of their own. A server
 * behind a pooler in transaction mode does not listen.
 *
 * @throws DatabaseError while servers use it.
 */
export async function assertNoServers(database: Database): Promise<void> {
  if (!isPostgres(database)) return;
  // The connection of a machine that is gone may remain for hours, but sends no queries.
  const seconds = (2 * CHECK_MS + RESPONSE_MS) / 1000;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = ${APPLICATION_NAME}
      and state_change > now() - make_interval(secs => ${seconds})`.execute(database);
  const count = rows[0]?.count ?? 0;
  if (count === 0) return;
  const users = count === 1 ? '1 process of a server uses' : `${count} processes of servers use`;
  throw new DatabaseError(`${users} the database. Stop all servers first`);
}

class PostgresNotices implements Notices {
  readonly #database: Database;
  readonly #options: NoticesOptions;
  readonly #id = randomUUID().slice(0, 8);
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  readonly #listeners: ((name: string) => void)[] = [];
  #isListening = false;
  #isReported = false;
  #names = new Set<string>();
  #sending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, options: NoticesOptions) {
    this.#database = database;
    this.#options = options;
    this.#running = this.#listen();
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  onReceived(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  send(name: string): void {
    this.#names.add(name);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sending.then(() => this.#sendAll());
    }, BATCH_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort();
    await Promise.all([this.#running, this.#sending]);
  }

  /** Sends on any connection, as a pooler passes NOTIFY on. Readers that miss a message poll. */
  async #sendAll(): Promise<void> {
    const names = [...this.#names];
    this.#names = new Set();
    for (let start = 0; start < names.length; start += MAX_NAMES) {
      const text = JSON.stringify({ from: this.#id, names: names.slice(start, start + MAX_NAMES) });
      await sql`select pg_notify(${CHANNEL}, ${text})`.execute(this.#database).catch(() => undefined);
    }
  }

  /** Holds a connection that listens, and replaces one that is lost. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let pauseMs = RECONNECT_MS * (0.5 + Math.random());
      try {
        await this.#hold();
      } catch (error) {
        if (error instanceof PoolerError) pauseMs = POOLER_MS;
        this.#reportOnce(error);
      } finally {
        this.#isListening = false;
      }
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Listens until the connection is lost, or this process stops. */
  async #hold(): Promise<void> {
    const { signal } = this.#closing;
    const { default: driver } = await import('pg');
    const client = new driver.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: RESPONSE_MS,
      query_timeout: RESPONSE_MS,
      keepAlive: true,
      application_name: APPLICATION_NAME,
    });
    const lost = new AbortController();
    client.on('error', () => lost.abort()).on('end', () => lost.abort());
    client.on('notification', ({ channel, payload }) => this.#receive(channel, payload));
    try {
      await client.connect();
      await assertDirect(client);
      await client.query(`listen ${CHANNEL}`);
      this.#isListening = true;
      if (this.#isReported) this.#options.report('Changes of other servers are received at once again.');
      this.#isReported = false;
      while (!signal.aborted && !lost.signal.aborted) {
        await client.query('select 1');
        const either = AbortSignal.any([signal, lost.signal]);
        await delay(CHECK_MS, undefined, { signal: either, ref: false }).catch(() => undefined);
      }
      if (!signal.aborted) throw new Error('the connection was lost');
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  #receive(channel: string, payload: string | undefined): void {
    if (channel !== CHANNEL || payload === undefined) return;
    try {
      const { from, names } = JSON.parse(payload) as { from: string; names: readonly string[] };
      if (from !== this.#id) for (const name of names) for (const listener of this.#listeners) listener(name);
    } catch {
      // Other programs may send to the channel.
    }
  }

  #reportOnce(error: unknown): void {
    if (this.#isReported || this.#closing.signal.aborted) return;
    this.#isReported = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.report(`Changes of other servers show after half a second instead of at once: ${reason}.`);
  }
}

/** The connection leads to a pooler, which may give the server's connection to others between two statements. */
class PoolerError extends Error {}

async function assertDirect(client: pg.Client): Promise<void> {
  if (await isDirect(client)) return;
  throw new PoolerError(
    'DATABASE_URL leads to a pooler, through which PostgreSQL sends no notifications; set TRELLIS_POSTGRES_DIRECT_URL to the address of PostgreSQL itself',
  );
}
