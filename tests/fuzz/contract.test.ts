import { readFuzzedContract, type ServiceName } from './contract/document.js';
import { openFuzzFixtures, type FuzzFixtures } from './contract/fixtures.js';
import { fuzzContract } from './contract/fuzz-contract.js';
import { MODES, REQUESTS, RUN_TIMEOUT_MS, SEED } from './runs.js';

/** More requests per minute than a run sends. */
const UNLIMITED = 1_000_000;

/** Enough for the requests that create the fixtures; generated requests exceed it. */
const FEW_PER_MINUTE = 30;

/** Fewer than the interval after which the runner restores settings, which an exceeded limit would reject. */
const REQUESTS_ABOVE_LIMIT = 450;

const SERVICES: readonly ServiceName[] = ['dashboard', 'secrets'];

describe.each(MODES)('contracts in $mode mode', ({ mode, isProduction }) => {
  let stage: FuzzFixtures;
  beforeAll(async () => {
    stage = await openFuzzFixtures({ isProduction, perMinute: UNLIMITED });
  });
  afterAll(() => stage.close());

  test.each(SERVICES)(
    `%s, ${REQUESTS} generated requests: every response matches the contract`,
    async (service) => {
      const { seen, report, requestsPerSecond } = await fuzzContract(stage, { service, count: REQUESTS });
      const command = `SEED=${SEED} FUZZ=${REQUESTS} npm test -- tests/fuzz/contract.test.ts`;
      process.stdout.write(`${service}, ${mode}: ${command}\n  ${requestsPerSecond}/s, ${formatStatuses(seen)}\n`);
      expect(report).toBe('');
      // A run with error responses only would prove little.
      expect(countSuccessful(service, seen)).toBeGreaterThan(0.7);
    },
    RUN_TIMEOUT_MS,
  );

  test('the server logs no internal error and connects to no other machine', () => {
    const lines = stage.server.output().split('\n');
    expect(lines.filter((line) => /"internal error"|blocked connection/.test(line))).toEqual([]);
  });
});

describe.each(SERVICES)('%s above its rate limits', (service) => {
  let stage: FuzzFixtures;
  beforeAll(async () => {
    stage = await openFuzzFixtures({ isProduction: true, perMinute: FEW_PER_MINUTE });
  });
  afterAll(() => stage.close());

  test(`${REQUESTS_ABOVE_LIMIT} generated requests: every response matches the contract`, async () => {
    const { seen, report } = await fuzzContract(stage, { service, count: REQUESTS_ABOVE_LIMIT });
    expect(report).toBe('');
    expect([...seen.keys()].filter((key) => key.endsWith(' 429')).length).toBeGreaterThan(10);
  });
});

/** Returns the share of operations that succeeded at least once. */
function countSuccessful(service: ServiceName, seen: ReadonlyMap<string, number>): number {
  const { operations } = readFuzzedContract(service);
  const successful = new Set([...seen.keys()].filter((key) => / 2\d\d$/.test(key)).map((key) => key.split(' ')[0]));
  return operations.filter(({ id }) => successful.has(id)).length / operations.length;
}

function formatStatuses(seen: ReadonlyMap<string, number>): string {
  const statuses = new Map<string, number>();
  for (const [key, count] of seen) {
    const status = key.split(' ')[1] ?? '';
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const sorted = [...statuses].sort(([one], [other]) => Number(one) - Number(other));
  return sorted.map(([status, count]) => `${status}: ${count}`).join(', ');
}
