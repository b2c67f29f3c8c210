import { secretsContract } from './contract.js';
import { auditTests } from './secrets/audit.js';
import { authTests } from './secrets/auth.js';
import { consumersTests } from './secrets/consumers.js';
import { healthTests } from './secrets/health.js';
import { identityTests } from './secrets/identity.js';
import { mcpTests } from './secrets/mcp.js';
import { objectsTests } from './secrets/objects.js';
import { permissionTests } from './secrets/permissions.js';
import { brokenServerTests, refusalTests, WITHOUT_DATABASE } from './secrets/refusals.js';
import { openStage, witness } from './secrets/stage.js';
import type { Stage } from './secrets/stage.js';
import { tokensTests } from './secrets/tokens.js';
import { variantsTests } from './secrets/variants.js';
import { versionsTests } from './secrets/versions.js';
import { engine } from '../storage/engine.js';

/** More requests than all of these tests make: the limits are on, and in nobody's way. */
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
describe('Audit', () => auditTests());
describe('Auth', () => authTests());
describe('Identity', () => identityTests());
describe('Permissions', () => permissionTests());
describe('Mcp', () => mcpTests(stage));
describe('Every operation', () => refusalTests(stage));
describe('A server that can not go on', () => brokenServerTests());

// Last: it looks at what all tests before have seen.
test('every documented answer of every operation came over the wire', () => {
  const { documented } = secretsContract;
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
