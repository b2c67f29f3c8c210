import { engine } from '../storage/engine.js';
import { documented } from './contract.js';
import { adminTests } from './dashboard/admin.js';
import { authTests } from './dashboard/auth.js';
import { boardTests } from './dashboard/board.js';
import { brokenServerTests, commonErrorTests, WITHOUT_DATABASE } from './dashboard/common-errors.js';
import { credentialsTests } from './dashboard/credentials.js';
import { feedsTests } from './dashboard/feeds.js';
import { openStage, witness, type Stage } from './dashboard/fixtures.js';
import { forgeCredentialsTests } from './dashboard/forge-credentials.js';
import { healthTests } from './dashboard/health.js';
import { insightsTests } from './dashboard/insights.js';
import { notificationsTests } from './dashboard/notifications.js';
import { pullRequestsTests } from './dashboard/pull-requests.js';
import { repositoriesTests } from './dashboard/repositories.js';
import { settingsTests } from './dashboard/settings.js';
import { sharingTests } from './dashboard/sharing.js';
import { snoozesTests } from './dashboard/snoozes.js';
import { tokensTests } from './dashboard/tokens.js';
import { viewsTests } from './dashboard/views.js';
import { webhooksTests } from './dashboard/webhooks.js';
import { listUntried, REPLICAS } from './replicas.js';

/** More requests than all of these tests send, so that the limits are enabled but never reached. */
const PLENTY = 1_000_000;

let opened: Stage;
const stage = (): Stage => opened;

beforeAll(async () => {
  opened = await openStage({ perMinute: PLENTY, heartbeatMs: 20 });
});
afterAll(() => opened.server.close());

describe('Health', () => healthTests(stage));
describe('Auth', () => authTests(stage));
describe('Credentials', () => credentialsTests(stage));
describe('Tokens', () => tokensTests(stage));
describe('Settings', () => settingsTests(stage));
describe('Forge credentials', () => forgeCredentialsTests(stage));
describe('Board', () => boardTests(stage));
describe('Snoozes and visits', () => snoozesTests(stage));
describe('Views', () => viewsTests(stage));
describe('Feeds', () => feedsTests(stage));
describe('Notifications', () => notificationsTests(stage));
describe('Insights', () => insightsTests(stage));
describe('Sharing', () => sharingTests(stage));
describe('Admin', () => adminTests(stage));
// After the admin tests, because these tests add entries to the request log.
describe('Pull requests', () => pullRequestsTests(stage));
describe('Repositories', () => repositoriesTests(stage));
describe('Webhooks', () => webhooksTests(stage));
describe('Every operation', () => commonErrorTests(stage));
describe('A broken server', () => brokenServerTests());

if (REPLICAS > 0) {
  test('every operation was received by several replicas', () => {
    expect(listUntried(documented.map(({ id }) => id))).toEqual([]);
  });
}

// Last, because it checks the responses of all tests before.
test('every documented response of every operation was received', () => {
  const pairs = documented.flatMap(({ id, spec }) => Object.keys(spec.responses).map((status) => `${id} ${status}`));
  const missing = pairs.filter((pair) => !witness.seen.has(pair) && !isOutOfReach(pair));
  expect(missing).toEqual([]);
});

/** A SQLite file is always available, and operations without a database have nothing that could break. */
function isOutOfReach(pair: string): boolean {
  const [id = '', status] = pair.split(' ');
  return (
    (status === '503' && (engine === 'SQLite' || WITHOUT_DATABASE.includes(id)) && id !== 'getReadiness') ||
    (status === '500' && WITHOUT_DATABASE.includes(id))
  );
}
