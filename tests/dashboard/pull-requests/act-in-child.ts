import type { SessionCaller } from '../../../src/accounts/callers.js';
import { createDashboard } from '../../../src/dashboard/dashboard.js';
import { connectDatabase, type DatabaseTarget } from '../../../src/storage/database.js';
import { createIdempotencyStore } from '../../../src/storage/idempotency-store.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { LOOPBACK } from '../../forges/forge-server.js';

/** Merges a pull request, as a server does for a request with an idempotency key, until the process is killed. */
const { place, caller } = JSON.parse(process.argv[2] ?? '') as { place: DatabaseTarget; caller: SessionCaller };
const database = connectDatabase(place);
const { actions } = createDashboard({
  database,
  key: createServerKey('k'.repeat(43)),
  origin: () => 'http://localhost',
  forgeAllow: LOOPBACK,
});
const request = { scope: 'ada mergePullRequest', key: 'click', request: {}, reachesOut: true };
const target = { forge: 'github', fullName: 'acme/shop', number: 1 } as const;
await createIdempotencyStore(database).answerOnce(request, () => actions.perform(caller, target, 'merge'));
