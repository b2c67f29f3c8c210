import type { SessionCaller } from '../../../src/accounts/callers.js';
import { createUserStore } from '../../../src/accounts/users.js';
import type { Board } from '../../../src/dashboard/boards/board.js';
import { createDashboard, type Dashboard, type DashboardOptions } from '../../../src/dashboard/dashboard.js';
import type { Database } from '../../../src/storage/database.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { openTestDatabase } from '../../storage/engine.js';
import { settingsFor, startForges, type Forges } from './forges.js';

/** The three test forges, and a user who reads them through a dashboard with an adjustable clock. */
export interface Stage extends Forges {
  readonly database: Database;
  readonly dashboard: Dashboard;
  readonly ada: SessionCaller;
  /** The internal errors of refreshes. */
  readonly reported: unknown[];
  /** Opens a dashboard as in a second process on the same database. It is closed with the stage. */
  openProcess(options?: Partial<DashboardOptions>): Dashboard;
  refresh(): Promise<Board>;
  board(): Promise<Board>;
  wait(milliseconds: number): void;
  close(): Promise<void>;
}

/** By default, the user reads all three forges. */
export async function openStage(
  options: Partial<DashboardOptions> = {},
  toSettings: (forges: Forges) => Partial<ReturnType<typeof settingsFor>> = settingsFor,
): Promise<Stage> {
  const database = await openTestDatabase();
  const forges = await startForges();
  const clock = { ahead: 0 };
  const reported: unknown[] = [];
  const opened: Dashboard[] = [];
  const open = (other: Partial<DashboardOptions> = {}): Dashboard => {
    const dashboard = createDashboard({
      database,
      key: createServerKey('k'.repeat(43)),
      origin: () => 'http://localhost',
      forgeAllow: LOOPBACK,
      now: () => Date.now() + clock.ahead,
      report: (error) => reported.push(error),
      ...options,
      ...other,
    });
    opened.push(dashboard);
    return dashboard;
  };
  const dashboard = open();
  const { id: personId, username } = await createUserStore(database).add({ username: 'ada', displayName: 'Ada' });
  const ada: SessionCaller = {
    kind: 'session',
    sessionId: '',
    startedAt: Date.now(),
    personId,
    username,
    isAdmin: true,
  };
  await dashboard.settings.save(ada, toSettings(forges));
  const board = () => dashboard.boards.read(ada, { includeDrafts: true });
  return {
    database,
    ...forges,
    dashboard,
    ada,
    reported,
    openProcess: open,
    board,
    async refresh() {
      await dashboard.refresher.refresh(personId);
      return board();
    },
    wait: (milliseconds) => void (clock.ahead += milliseconds),
    async close() {
      await Promise.all(opened.map(({ refresher }) => refresher.close()));
      await Promise.all([forges.github, forges.forgejo, forges.gitlab].map((forge) => forge.close()));
      await database.destroy();
    },
  };
}
