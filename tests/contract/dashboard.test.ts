import { documented } from './contract.js';
import { adminTests } from './dashboard/admin.js';
import { authTests } from './dashboard/auth.js';
import { boardTests } from './dashboard/board.js';
import { credentialsTests } from './dashboard/credentials.js';
import { feedsTests } from './dashboard/feeds.js';
import { healthTests } from './dashboard/health.js';
import { insightsTests } from './dashboard/insights.js';
import { brokenServerTests, refusalTests, WITHOUT_DATABASE } from './dashboard/refusals.js';
import { pullRequestsTests } from './dashboard/pull-requests.js';
import { repositoriesTests } from './dashboard/repositories.js';
import { settingsTests } from './dashboard/settings.js';
import { sharingTests } from './dashboard/sharing.js';
import { snoozesTests } from './dashboard/snoozes.js';
import { openStage, witness } from './dashboard/stage.js';
import type { Stage } from './dashboard/stage.js';
import { tokensTests } from './dashboard/tokens.js';
import { viewsTests } from './dashboard/views.js';
import { webhooksTests } from './dashboard/webhooks.js';
import { engine } from '../storage/engine.js';

/** More requests than all of these tests make: the limits are on, and in nobody's way. */
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
describe('Board', () => boardTests(stage));
describe('Snoozes and visits', () => snoozesTests(stage));
describe('Views', () => viewsTests(stage));
describe('Feeds', () => feedsTests(stage));
describe('Insights', () => insightsTests(stage));
describe('Sharing', () => sharingTests(stage));
describe('Admin', () => adminTests(stage));
// After the admin has looked at all that was asked of forges.
describe('Pull requests', () => pullRequestsTests(stage));
describe('Repositories', () => repositoriesTests(stage));
describe('Webhooks', () => webhooksTests(stage));
describe('Every operation', () => refusalTests(stage));
describe('A server that can not go on', () => brokenServerTests());

// Last: it looks at what all tests before have seen.
test('every documented answer of every operation came over the wire', () => {
  const pairs = documented.flatMap(({ id, spec }) => Object.keys(spec.responses).map((status) => `${id} ${status}`));
  const missing = pairs.filter((pair) => !witness.seen.has(pair) && !isOutOfReach(pair));
  expect(missing).toEqual([]);
});

/** SQLite's file is always there, and what stands on nothing has nothing to break. */
function isOutOfReach(pair: string): boolean {
  const [id = '', status] = pair.split(' ');
  return (
    (status === '503' && (engine === 'SQLite' || WITHOUT_DATABASE.includes(id)) && id !== 'getReadiness') ||
    (status === '500' && WITHOUT_DATABASE.includes(id))
  );
}
