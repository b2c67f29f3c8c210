import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import {
  connectDatabase,
  type Database,
  inTransaction,
  isPostgres,
  toDatabaseError,
} from '../../src/storage/database.js';
import { openDatabase, toDatabaseTarget } from '../../src/storage/open-database.js';
import { prepare } from '../../src/storage/prepared.js';
import { eventually } from '../eventually.js';
import { createDatabaseTarget, openTestDatabase } from './engine.js';
import { startOldPostgres } from './old-postgres.js';

async function placeUrl(): Promise<URL> {
  const place = await createDatabaseTarget();
  return new URL('url' in place ? place.url : '');
}

const reasonOf = (url: string) =>
  openDatabase({ url }).then(
    () => undefined,
    (error: unknown) => String(error),
  );

const findPeople = prepare((on) => on.selectFrom('people').selectAll());

/** Returns the statements that the connection of a transaction keeps after it has run one. */
const listKept = (database: Database) =>
  inTransaction(database, async (transaction) => {
    await findPeople(transaction, {});
    const kept = sql<{ statement: string }>`select statement from pg_prepared_statements`;
    return (await kept.execute(transaction)).rows.map(({ statement }) => statement);
  });

/** Starts a proxy that reports a process number of its own, as a pooler does. */
async function startPooler(target: URL): Promise<{ readonly url: string; close(): void }> {
  const pooler = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    socket.pipe(upstream);
    upstream.on('data', (bytes) => {
      // BackendKeyData: its type, its length of 12, the number of the process, and a key.
      const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (at !== -1) bytes.writeInt32BE(1, at + 5);
      socket.write(bytes);
    });
    for (const one of [socket, upstream]) one.on('error', () => undefined).on('close', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  const { port } = pooler.address() as AddressInfo;
  return { url: Object.assign(new URL(target), { port: String(port) }).href, close: () => pooler.close() };
}

describe('PostgreSQL', () => {
  test.each([
    ['no server listens', { port: '1' }, "the PostgreSQL server can't be reached: ECONNREFUSED"],
    ['the password is wrong', { password: 'geheim' }, 'the PostgreSQL server rejected the password'],
    ['the database does not exist', { pathname: 'nowhere' }, 'the database does not exist'],
    [
      'the schema does not exist',
      { search: '?options=-csearch_path%3Dnowhere' },
      'no schema of the search path exists',
    ],
    [
      'a certificate does not exist',
      { search: '?sslmode=verify-full&sslrootcert=/nowhere/ca.pem' },
      "the PostgreSQL server can't be reached: a file that the URL names can't be read: ENOENT",
    ],
  ])('reports in one line that %s, without any part of the URL', async (_reason, change, message) => {
    const { href } = Object.assign(await placeUrl(), change);
    expect(await reasonOf(href)).toBe(`DatabaseError: ${message}`);
  });

  test('reports in one line that the password is missing, and closes the connection', async () => {
    const toRequest = (kind: number, text: string): Buffer => {
      const head = Buffer.from([0x52, 0, 0, 0, text.length + 8, 0, 0, 0, kind]);
      return Buffer.concat([head, Buffer.from(text)]);
    };
    let isClosed = false;
    const server = createServer((socket) => {
      // The server of the tests requests no SCRAM: its list of methods (10), and its first message (11).
      const requests = [toRequest(10, 'SCRAM-SHA-256\0\0'), toRequest(11, 'r=,s=,i=4096')];
      socket.on('data', () => socket.write(requests.shift() ?? ''));
      socket.on('error', () => undefined).on('close', () => (isClosed = true));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await reasonOf(`postgres://trellis@127.0.0.1:${port}/trellis`)).toBe(
      'DatabaseError: the PostgreSQL server requires a password',
    );
    await eventually(() => expect(isClosed).toBe(true));
    server.close();
  });

  test('reports the error of a server that can be reached, if no other text names it', async () => {
    const database = await openTestDatabase();
    const failing = sql`do $$ begin raise exception 'out of memory' using errcode = '53200'; end $$`;
    const work = inTransaction(database, (transaction) => failing.execute(transaction));
    expect(String(await work.catch(toDatabaseError))).toBe(
      'DatabaseError: the PostgreSQL server reports: out of memory',
    );
    await database.destroy();
  });

  test('reports a server that stops responding as unavailable, within seconds', async () => {
    const target = await placeUrl();
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const upstream = connect(Number(target.port), target.hostname);
      sockets.push(socket, upstream);
      socket.pipe(upstream).pipe(socket);
      for (const one of [socket, upstream]) one.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const database = await openDatabase({ url: Object.assign(new URL(target), { port: String(port) }).href });
    await database.selectFrom('people').selectAll().execute();
    for (const socket of sockets) socket.unpipe().pause();
    const startedAt = performance.now();
    const work = inTransaction(database, (transaction) => transaction.selectFrom('people').selectAll().execute());
    await expect(work).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '2' } });
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    for (const socket of sockets) socket.destroy();
    await database.destroy();
    proxy.close();
  });

  test('waits for a lock as long as configured, and sets the other limits of a transaction', async () => {
    const place = toDatabaseTarget({
      databaseUrl: (await placeUrl()).href,
      state: '',
      postgresLockSeconds: 1,
      postgresStatementSeconds: 7,
      postgresIdleSeconds: 6,
    });
    const database = await openDatabase(place);
    const readLimits = async (transaction: Database) => {
      const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
      const reading = names.map((name) => sql<{ value: string }>`select current_setting(${name}) as value`);
      const values: (string | undefined)[] = [];
      for (const one of reading) values.push((await one.execute(transaction)).rows[0]?.value);
      return values;
    };
    expect(await inTransaction(database, readLimits)).toEqual(['1s', '7s', '6s']);
    await inTransaction(database, async (transaction) => {
      await sql`lock table people`.execute(transaction);
      const startedAt = performance.now();
      const reading = inTransaction(database, (second) => second.selectFrom('people').selectAll().execute());
      await expect(reading).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '2' } });
      expect(performance.now() - startedAt).toBeGreaterThan(990);
      expect(performance.now() - startedAt).toBeLessThan(7_000);
    });
    await database.destroy();
  });

  test('has no limits for migrations and backups, also if the role has some', async () => {
    const url = `${(await placeUrl()).href}?options=${encodeURIComponent('-c statement_timeout=100')}`;
    const database = connectDatabase({ url }, { hasDeadlines: false });
    const sleep = (transaction: Database) => sql`select pg_sleep(0.3)`.execute(transaction);
    await expect(inTransaction(database, sleep)).resolves.toMatchObject({ rows: [{}] });
    await database.destroy();
  });

  // Only Linux lists the timers of connections.
  (process.platform === 'linux' ? test : test.skip)('probes an idle connection after half a minute', async () => {
    const database = await openDatabase({ url: (await placeUrl()).href });
    const { rows } = await sql<{ port: number }>`select inet_client_port() as port`.execute(database);
    const port = rows[0]!.port.toString(16).toUpperCase().padStart(4, '0');
    const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
    // The columns of a connection are its local address, and a timer (2 for such probes) with its time in hundredths of a second.
    const timer = lines.find(([, local]) => local?.endsWith(`:${port}`))?.[5];
    await database.destroy();
    expect(timer).toMatch(/^02:/);
    expect(Number.parseInt(timer!.slice(3), 16)).toBeLessThanOrEqual(3_000);
  });

  test('fails a transaction that the server rolls back, although its work ignored the error', async () => {
    const database = await openTestDatabase();
    const person = { id: 'ada', username: 'A', username_key: 'a', display_name: 'A', is_admin: 1, created_at: 1 };
    const work = inTransaction(database, async (transaction) => {
      await transaction.insertInto('people').values(person).execute();
      await sql`select 1 / 0`.execute(transaction).catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({ name: 'AbortedTransactionError' });
    expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
    await database.destroy();
  });

  test('has its tables in the first schema of the search path, beside those of a second installation', async () => {
    const { href } = await placeUrl();
    const first = await openDatabase({ url: href });
    const person = { id: 'ada', username: 'A', username_key: 'a', display_name: 'A', is_admin: 1, created_at: 1 };
    await first.insertInto('people').values(person).execute();
    await sql`create schema staging`.execute(first);
    const url = `${href}?options=${encodeURIComponent('-c search_path=staging')}`;
    // The second start finds the tables of the first one.
    for (const _start of ['first', 'second']) {
      const second = await openDatabase({ url });
      expect(await second.selectFrom('people').selectAll().execute()).toEqual([]);
      await second.destroy();
    }
    expect(await first.selectFrom('people').selectAll().execute()).toEqual([person]);
    // The search path of PostgreSQL begins with the schema that has the name of the user.
    await sql`create schema ${sql.ref((await placeUrl()).username)}`.execute(first);
    await first.destroy();
    const again = await openDatabase({ url: href });
    expect(await again.selectFrom('people').selectAll().execute()).toEqual([person]);
    await again.destroy();
  });

  test('rejects a server whose version is too old', async () => {
    const old = await startOldPostgres('14.9');
    expect(await reasonOf(old.url)).toBe(
      'DatabaseError: PostgreSQL 15 or later is required; the server has version 14.9',
    );
    old.close();
  });

  test('keeps no statement on a connection through a pooler', async () => {
    const pooler = await startPooler(await placeUrl());
    const database = await openDatabase({ url: pooler.url });
    expect(await listKept(database)).toEqual([]);
    await database.destroy();
    pooler.close();
  });

  describe('a database', () => {
    let database: Database;
    beforeEach(async () => {
      database = await openTestDatabase();
    });
    afterEach(() => database.destroy());

    test('is PostgreSQL', () => {
      expect(isPostgres(database)).toBe(true);
    });

    test('orders text by its bytes in every locale, like SQLite', async () => {
      const names = ['a', 'B', '_', 'ä', 'Z', 'aa'];
      for (const name of names)
        await database.insertInto('secret_consumers').values({ name, public_key: null }).execute();
      const rows = await database.selectFrom('secret_consumers').select('name').orderBy('name').execute();
      expect(rows.map(({ name }) => name)).toEqual(['B', 'Z', '_', 'a', 'aa', 'ä']);
    });

    test('keeps a prepared query on its connection', async () => {
      expect(await listKept(database)).toEqual(['select * from "people"']);
    });

    test('runs a prepared query again, alone or in a transaction, when a migration has changed its columns', async () => {
      const person = {
        id: 'p1',
        username: 'Ada',
        username_key: 'ada',
        display_name: 'Ada',
        is_admin: 1,
        created_at: 7,
      };
      await database.insertInto('people').values(person).execute();
      expect(await findPeople(database, {})).toEqual([person]);
      await sql`alter table people add column height integer`.execute(database);
      // The second time, the connection keeps the new plan.
      for (let time = 1; time <= 2; time += 1)
        expect(await findPeople(database, {})).toEqual([{ ...person, height: null }]);
      await sql`alter table people drop column height`.execute(database);
      const inside = inTransaction(database, (transaction) => findPeople(transaction, {}));
      expect(await inside).toEqual([person]);
    });

    test('rejects an integer that is not exact as a number', async () => {
      await expect(sql`select 9007199254740993 as big`.execute(database)).rejects.toThrow('received 9007199254740993');
    });

    test.each([
      ['a full disk', '53100'],
      ['no memory', '53200'],
      ['a failing disk', '58030'],
    ])('reports a server with %s as unavailable', async (_what, code) => {
      const fail = sql.raw(`do $$ begin raise exception 'failed' using errcode = '${code}'; end $$`);
      const work = inTransaction(database, (transaction) => fail.execute(transaction));
      await expect(work).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '2' } });
    });

    test('replaces a connection to a server that has become a standby', async () => {
      const add = (name: string) =>
        database.insertInto('secret_consumers').values({ name, public_key: null }).execute();
      // The setting belongs to the connection, which the pool gives to the next query.
      await sql`set default_transaction_read_only = on`.execute(database);
      await expect(add('lost')).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '2' } });
      await add('kept');
      const found = await database.selectFrom('secret_consumers').select('name').execute();
      expect(found).toEqual([{ name: 'kept' }]);
    });

    test('continues after its server has closed the connections', async () => {
      const end = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`;
      await expect(end.execute(database)).rejects.toThrow();
      expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
    });
  });
});
