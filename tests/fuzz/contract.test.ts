import { readFuzzedContract } from './contract/document.js';
import type { ServiceName } from './contract/document.js';
import { fuzzContract } from './contract/fuzz-contract.js';
import { openFuzzStage } from './contract/stage.js';
import type { FuzzStage } from './contract/stage.js';
import { MODES, REQUESTS, RUN_TIMEOUT_MS, SEED } from './runs.js';

/** More requests a minute than a run sends. */
const PLENTY = 1_000_000;

/** Enough for the requests that fill the stage; the generated ones run into it. */
const FEW = 30;

/** Fewer than the runner restores settings after, which a spent budget would refuse. */
const REQUESTS_PAST_BUDGET = 450;

const SERVICES: readonly ServiceName[] = ['dashboard', 'secrets'];

describe.each(MODES)('in $mode mode', ({ mode, isProduction }) => {
  describe.each(SERVICES)('%s', (service) => {
    let stage: FuzzStage;
    beforeAll(async () => {
      stage = await openFuzzStage({ isProduction, perMinute: PLENTY });
    });
    afterAll(() => stage.close());

    test(
      `${REQUESTS} generated requests: every response fits the contract`,
      async () => {
        const { seen, report, requestsPerSecond } = await fuzzContract(stage, { service, count: REQUESTS });
        const command = `SEED=${SEED} FUZZ=${REQUESTS} npm test -- tests/fuzz/contract.test.ts`;
        process.stdout.write(`${service}, ${mode}: ${command}\n  ${requestsPerSecond}/s, ${formatStatuses(seen)}\n`);
        expect(report).toBe('');
        // Responses to errors alone would show little.
        expect(countSuccessful(service, seen)).toBeGreaterThan(0.7);
      },
      RUN_TIMEOUT_MS,
    );

    test('the server logs no internal error and connects to no other machine', () => {
      const lines = stage.server.output().split('\n');
      expect(lines.filter((line) => /"defect"|refused to leave/.test(line))).toEqual([]);
    });
  });
});

describe.each(SERVICES)('%s past its budgets', (service) => {
  let stage: FuzzStage;
  beforeAll(async () => {
    stage = await openFuzzStage({ isProduction: true, perMinute: FEW });
  });
  afterAll(() => stage.close());

  test(`${REQUESTS_PAST_BUDGET} generated requests: every response fits the contract`, async () => {
    const { seen, report } = await fuzzContract(stage, { service, count: REQUESTS_PAST_BUDGET });
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
