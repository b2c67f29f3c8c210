/**
 * Measures how long a change of a board that one process stores takes until a subscriber in another process is woken:
 * with notifications of PostgreSQL, by polling, and behind PgBouncer in transaction mode. Needs the program `pgbouncer`.
 *
 * Usage: npm run bench:notices -- [changes]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import { EMPTY_BOARD_SNAPSHOT } from '../../src/dashboard/boards/board.js';
import { createDashboard } from '../../src/dashboard/dashboard.js';
import { openNotices } from '../../src/storage/notices.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { startPgbouncer } from '../operations/pooler.js';
import { startPostgres } from '../postgres.js';
import { toTable } from '../table.js';

const changes = Number(process.argv[2] ?? 40);
const origin = (): string => 'http://localhost';
const key = createServerKey('k'.repeat(43));

interface Path {
  /** The URL of the database. */
  readonly url: string;
  /** The URL of the connection that listens; absent to poll. */
  readonly listenUrl?: string;
}

async function openProcess({ url, listenUrl }: Path) {
  const database = await openDatabase({ url });
  const reports: string[] = [];
  const notices =
    listenUrl === undefined
      ? undefined
      : openNotices(database, { url: listenUrl, report: (line) => reports.push(line) });
  const dashboard = createDashboard({ database, key, origin, ...(notices && { notices }) });
  // A connection is made, or refused, within a second.
  for (let tries = 0; notices && !notices.isListening && reports.length === 0 && tries < 100; tries += 1)
    await sleep(20);
  return {
    ...{ database, dashboard, reports },
    async close() {
      await notices?.close();
      await database.destroy();
    },
  };
}

async function measure(name: string, path: Path): Promise<string[]> {
  const [writer, reader] = [await openProcess(path), await openProcess(path)];
  const person = { username: `p${Date.now()}`, displayName: 'P' };
  const { id } = await createAccounts(writer.database, { origin }).users.add(person);
  const subscription = reader.dashboard.boards.subscribe(id);
  const delays: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    // The wait for the change before may have ended with a poll.
    await sleep(Math.random() * 300);
    await subscription.next(AbortSignal.timeout(1));
    await writer.dashboard.boards.save(id, EMPTY_BOARD_SNAPSHOT);
    const savedAt = performance.now();
    await subscription.next(AbortSignal.timeout(20_000));
    delays.push(performance.now() - savedAt);
  }
  subscription.close();
  await Promise.all([writer.close(), reader.close()]);
  delays.sort((one, other) => one - other);
  const at = (share: number): string => (delays[Math.floor(share * (delays.length - 1))] ?? 0).toFixed(1);
  return [name, at(0.5), at(0.95), at(1), reader.reports[0] ?? ''];
}

const postgres = await startPostgres();
const { url } = postgres;
const pooler = await startPgbouncer(url);
try {
  const rows = [
    await measure('polling', { url }),
    await measure('LISTEN', { url, listenUrl: url }),
    await measure('PgBouncer', { url: pooler.url, listenUrl: pooler.url }),
    await measure('PgBouncer, TRELLIS_POSTGRES_DIRECT_URL', { url: pooler.url, listenUrl: url }),
  ];
  process.stdout.write(toTable(['way', 'p50, ms', 'p95, ms', 'longest, ms', 'report'], rows));
} finally {
  await pooler.stop();
  await postgres.stop();
}
