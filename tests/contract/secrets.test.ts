import { engine } from '../storage/engine.js';
import { secretsContract } from './contract.js';
import { listUntried, REPLICAS } from './replicas.js';
import { auditTests } from './secrets/audit.js';
import { authTests } from './secrets/auth.js';
import { consumersTests } from './secrets/consumers.js';
import { deviceLoginTests } from './secrets/device-login.js';
import { openStage, recorder, type Stage } from './secrets/fixtures.js';
import { healthTests } from './secrets/health.js';
import { identityTests } from './secrets/identity.js';
import { mcpTests } from './secrets/mcp.js';
import { objectsTests } from './secrets/objects.js';
import { permissionTests } from './secrets/permissions.js';
import { brokenServerTests, errorTests, WITHOUT_DATABASE } from './secrets/refusals.js';
import { tokensTests } from './secrets/tokens.js';
import { variantsTests } from './secrets/variants.js';
import { versionsTests } from './secrets/versions.js';
import { workloadIdentityTests } from './secrets/workload-identity.js';

/** More requests than all of these tests send: the rate limits are on, but never reached. */
const PLENTY = 1_000_000;

let opened: Stage;
const stage = (): Stage => opened;

beforeAll(async () => {
  opened = await openStage({ perMinute: PLENTY });
});
afterAll(() => opened.server.close());

describe('Health', () => healthTests(stage));
describe('Objects', () => objectsTests(stage));
describe('Variants', () => variantsTests(stage));
describe('Versions', () => versionsTests(stage));
describe('Consumers', () => consumersTests(stage));
describe('Tokens', () => tokensTests(stage));
describe('Workload identity', () => workloadIdentityTests(stage));
describe('Device login', () => deviceLoginTests(stage));
describe('Audit', () => auditTests());
describe('Auth', () => authTests());
describe('Identity', () => identityTests());
describe('Permissions', () => permissionTests());
describe('Mcp', () => mcpTests(stage));
describe('Every operation', () => errorTests(stage));
describe('A broken server', () => brokenServerTests());

if (REPLICAS > 0) {
  test('every operation was received by several replicas', () => {
    expect(listUntried(secretsContract.documented.map(({ id }) => id))).toEqual([]);
  });
}

// This test must be the last one, because it checks the responses to all previous tests.
test('Every documented response of every operation was tested over HTTP', () => {
  const { documented } = secretsContract;
  const pairs = documented.flatMap(({ id, spec }) => Object.keys(spec.responses).map((status) => `${id} ${status}`));
  const missing = pairs.filter((pair) => !recorder.seen.has(pair) && !isOutOfReach(pair));
  expect(missing).toEqual([]);
});

/** Returns whether a response can't occur: SQLite's file is always available, and some operations use no database. */
function isOutOfReach(pair: string): boolean {
  const [id = '', status] = pair.split(' ');
  return (
    (status === '503' && (engine === 'SQLite' || WITHOUT_DATABASE.includes(id)) && id !== 'getReadiness') ||
    (status === '500' && WITHOUT_DATABASE.includes(id))
  );
}
