import { createDashboard } from '../../../src/dashboard/dashboard.js';
import { connectDatabase, type DatabaseTarget } from '../../../src/storage/database.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { LOOPBACK } from '../../forges/forge-server.js';

/** Sends the notifications of a database, as a server does, until the process is killed. */
const { notifications } = createDashboard({
  database: connectDatabase(JSON.parse(process.argv[2] ?? '') as DatabaseTarget),
  key: createServerKey('k'.repeat(43)),
  origin: () => 'http://localhost',
  notificationAllow: LOOPBACK,
  notificationLookMs: 20,
});
notifications.worker.start();
setInterval(() => undefined, 60_000);
