import {
  createSeenDeliveries,
  pruneDeliveries,
  deleteExpiredDeliveries,
} from '../../../src/dashboard/webhooks/deliveries.js';
import type { Database } from '../../../src/storage/database.js';
import { openTestDatabase } from '../../storage/engine.js';

const DAY_MS = 86_400_000;

let database: Database;
let at: number;

beforeEach(async () => {
  database = await openTestDatabase();
  at = 1_000_000;
});
afterEach(() => database.destroy());

const seen = () => createSeenDeliveries(database, () => at);
const count = async () => (await database.selectFrom('webhook_deliveries').selectAll().execute()).length;

test('claim: succeeds once per delivery across all processes', async () => {
  const processes = Array.from({ length: 8 }, seen);
  const claims = await Promise.all(processes.map((one) => one.claim(['p1', 'github', 'd1'])));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test.each([
  ['a different user', ['p2', 'github', 'd1']],
  ['a different forge', ['p1', 'forgejo', 'd1']],
  ['a different delivery', ['p1', 'github', 'd2']],
  ['parts that look alike when joined', ['p1 github', 'd1']],
])('claim: distinguishes %s', async (_reason, parts) => {
  const deliveries = seen();
  await deliveries.claim(['p1', 'github', 'd1']);
  expect(await deliveries.claim(parts)).toBe(true);
});

test('claim: expires after a day, also before the row is deleted', async () => {
  const deliveries = seen();
  await deliveries.claim(['p1', 'github', 'd1']);
  at += DAY_MS - 1;
  expect(await deliveries.claim(['p1', 'github', 'd1'])).toBe(false);
  at += 1;
  expect(await deliveries.claim(['p1', 'github', 'd1'])).toBe(true);
  expect(await deliveries.claim(['p1', 'github', 'd1'])).toBe(false);
  await deleteExpiredDeliveries(database, at + DAY_MS);
  expect(await count()).toBe(0);
});

test('pruneDeliveries: keeps the newest deliveries only', async () => {
  const deliveries = seen();
  for (const id of ['d1', 'd2', 'd3', 'd4']) {
    at += 1;
    await deliveries.claim(['p1', 'github', id]);
  }
  await pruneDeliveries(database, 2);
  expect(await count()).toBe(2);
  expect(await deliveries.claim(['p1', 'github', 'd4'])).toBe(false);
  expect(await deliveries.claim(['p1', 'github', 'd2'])).toBe(true);
  await pruneDeliveries(database, 10);
  expect(await count()).toBe(3);
});
