import { hash } from 'node:crypto';
import { startSession } from '../../src/accounts/authentication.js';
import type { SessionCaller } from '../../src/accounts/callers.js';
import { createUserStore } from '../../src/accounts/users.js';
import { createDashboard, type Dashboard, type DashboardOptions } from '../../src/dashboard/dashboard.js';
import type { Database } from '../../src/storage/database.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { LOOPBACK } from '../forges/forge-server.js';
import { openTestDatabase } from '../storage/engine.js';

export interface TestDashboard extends Dashboard {
  readonly database: Database;
  /** An admin with saved forge settings. */
  readonly ada: SessionCaller;
  readonly bob: SessionCaller;
}

/** Opens a dashboard with two users on a new database, unless one is given. The caller destroys it. */
export async function openDashboard(options: Partial<DashboardOptions> = {}): Promise<TestDashboard> {
  const database = options.database ?? (await openTestDatabase());
  const people = createUserStore(database);
  const add = async (username: string): Promise<SessionCaller> => {
    const { id: personId, isAdmin } = await people.add({ username, displayName: username });
    const sessionId = hash('sha256', await startSession(database, { personId, at: Date.now() }));
    return { kind: 'session', sessionId, startedAt: Date.now(), personId, username, isAdmin };
  };
  const defaults = {
    database,
    key: createServerKey('k'.repeat(43)),
    origin: () => 'http://localhost:4000',
    forgeAllow: LOOPBACK,
  };
  const dashboard = createDashboard({ ...defaults, ...options });
  const [ada, bob] = [await add('ada'), await add('bob')];
  await dashboard.settings.save(ada, {});
  return { ...dashboard, database, ada, bob };
}
