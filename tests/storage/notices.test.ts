import { rename, writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { sql } from 'kysely';
import { createAccounts } from '../../src/accounts/accounts.js';
import { backupCommand, restoreCommand } from '../../src/commands/backup.js';
import { keysCommand } from '../../src/commands/keys.js';
import { EMPTY_BOARD_SNAPSHOT } from '../../src/dashboard/boards/board.js';
import { createDashboard } from '../../src/dashboard/dashboard.js';
import { readPreferences } from '../../src/dashboard/notifications/preferences.js';
import type { Database } from '../../src/storage/database.js';
import { type Notices, openNotices } from '../../src/storage/notices.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { assertServerKey, createServerKey, openServerKey } from '../../src/storage/server-key.js';
import { runCommand } from '../commands/run-command.js';
import { eventually } from '../eventually.js';
import { createDatabaseTarget, createTestFolder } from './engine.js';

interface Process {
  readonly database: Database;
  readonly notices: Notices;
  readonly reports: string[];
  close(): Promise<void>;
}

let url: string;
const processes: Process[] = [];

async function openProcess(place = url): Promise<Process> {
  const database = await openDatabase({ url: place });
  const reports: string[] = [];
  const notices = openNotices(database, { url: place, report: (message) => reports.push(message) });
  const one = {
    database,
    notices,
    reports,
    async close() {
      await notices.close();
      await database.destroy();
    },
  };
  processes.push(one);
  await eventually(() => expect(notices.isListening).toBe(true));
  return one;
}

describe('notices between processes', () => {
  beforeAll(async () => {
    const place = await createDatabaseTarget();
    url = 'url' in place ? place.url : '';
  });
  afterAll(() => Promise.all(processes.map((one) => one.close())));

  test('pass names to other processes, and not to the sender', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const received: string[] = [];
    one.notices.onReceived((name) => received.push(`one ${name}`));
    other.notices.onReceived((name) => received.push(`other ${name}`));
    one.notices.send('a');
    one.notices.send('a');
    other.notices.send('b');
    await eventually(() => expect(received.toSorted()).toEqual(['one b', 'other a']));
    await one.database.selectFrom('people').select('id').execute();
    expect(received).toHaveLength(2);
  });

  test('continue after the connection was lost, with one report of each', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const received: string[] = [];
    other.notices.onReceived((name) => received.push(name));
    const end = sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'trellis notices'`;
    await end.execute(one.database);
    await eventually(() => expect(other.notices.isListening).toBe(false));
    await eventually(() => expect(other.notices.isListening).toBe(true));
    one.notices.send('after');
    await eventually(() => expect(received).toEqual(['after']));
    expect(other.reports).toEqual([
      expect.stringContaining('Changes of other servers show after half a second instead of at once'),
      'Changes of other servers are received at once again.',
    ]);
  });

  test('wake the streams of a board that another process has changed, long before the next poll', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const key = createServerKey('k'.repeat(43));
    const origin = (): string => 'http://localhost';
    const open = ({ database, notices }: Process) =>
      createDashboard({ database, key, origin, notices, pollMs: 3_600_000 });
    const [writer, reader] = [open(one), open(other)];
    const { id } = await createAccounts(one.database, { origin }).users.add({ username: 'ada', displayName: 'Ada' });
    const subscription = reader.boards.subscribe(id);
    await writer.boards.save(id, EMPTY_BOARD_SNAPSHOT);
    await subscription.next(AbortSignal.timeout(60_000));
    expect((await reader.boards.findVersion(id))?.id).toBe((await writer.boards.findVersion(id))?.id);
    subscription.close();
  });

  test('announce refreshes and messages that a different process has to begin', async () => {
    const { database } = await openProcess();
    const sent: string[] = [];
    const dashboard = createDashboard({
      ...{ database, key: createServerKey('k'.repeat(43)), origin: () => 'http://localhost' },
      notices: { isListening: true, send: (name) => sent.push(name), onReceived: () => undefined },
    });
    const users = createAccounts(database, { origin: () => 'http://localhost' }).users;
    const { id: personId } = await users.add({ username: 'eve', displayName: 'Eve' });
    const caller = { kind: 'session', sessionId: '', personId, username: 'eve', isAdmin: false } as const;
    await dashboard.refresher.refreshNow(personId);
    await dashboard.notifications.save(caller, await readPreferences(database, personId));
    expect(sent).toEqual(['/refreshes', '/notifications']);
  });

  test('keep the server key from being replaced, and a backup from being restored', async () => {
    const state = await createTestFolder();
    const place = await createDatabaseTarget();
    const target = 'url' in place ? place.url : '';
    const server = await openProcess(target);
    await assertServerKey(server.database, await openServerKey(state));
    const backup = `${state}/backup`;
    const context = {
      release: '1.0.0',
      out: process.stdout,
      terminal: new PassThrough() as unknown as NodeJS.WriteStream,
    };
    const where = ['--state', state, '--database-url', target];
    const rotate = () => runCommand(({ out }) => keysCommand(out), ['rotate', ...where]);
    const restore = () => runCommand(() => restoreCommand(context), [backup, '--force', ...where]);
    await runCommand(() => backupCommand(context), [backup, ...where]);
    for (const change of [rotate, restore]) {
      const err = 'DATABASE_URL: 1 process of a server uses the database. Stop all servers first\n';
      expect(await change()).toMatchObject({ code: 1, err });
    }
    // The backup is read after the search for servers.
    await rename(backup, `${backup}.kept`);
    await writeFile(backup, 'damaged');
    expect(await restore()).toMatchObject({ err: expect.stringContaining('Stop all servers first') as string });
    await rename(`${backup}.kept`, backup);
    await server.notices.close();
    for (const change of [restore, rotate]) expect(await change()).toMatchObject({ code: 0 });
  });
});
