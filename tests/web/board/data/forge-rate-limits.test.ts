import { ApiError } from '../../../../src/generated/dashboard/client.js';
import type { Board } from '../../../../src/web/app/board/data/rows.js';

// The store of the board asks for the kind of pointer when it is loaded, and Node.js has none.
// The clock of the module advances when its timer ends, which takes hours. Timers of the test runner are shorter.
let endOfTimer = (): void => undefined;
const { setTimeout: start } = globalThis;
const startShort = (end: () => void, delay = 0): unknown =>
  delay > 600_000 ? void (endOfTimer = end) : start(end, delay);
Object.assign(globalThis, { matchMedia: () => ({ matches: false }), setTimeout: startShort });
afterAll(() => void Object.assign(globalThis, { setTimeout: start }));
const { newestBoard } = await import('../../../../src/web/app/board/data/board-store.js');
const { describeRateLimit, findRateLimitLock, listRateLimitLocks, rateLimitNoticeId, recordRateLimit } =
  await import('../../../../src/web/app/board/data/forge-rate-limits.js');

type Forge = Board['forges'][number];

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const work = { id: 'cred-1', label: 'Work' };
const own = { forge: 'github' } as const;
const further = { forge: 'github', credential: work } as const;

const state = (change: Partial<Forge>): Forge => ({
  forge: 'github',
  reachable: true,
  repoCount: 1,
  truncated: false,
  ...change,
});

const toSpent = (resetsAt: string) => ({ limit: 5000, remaining: 0, resetsAt, severity: 'exceeded' }) as const;

function show(forge: Forge, other: Forge): void {
  newestBoard.value = {
    forges: [forge],
    furtherForges: [other],
    pullRequests: [],
    issues: [],
    repos: [],
  } as unknown as Board;
}

test('findRateLimitLock: locks only the rows of the credential whose quota is exceeded', () => {
  const resetsAt = inHours(1);
  const spent = toSpent(resetsAt);
  show(state({ rateLimitREST: spent }), state({ credential: work }));
  expect([findRateLimitLock(own)?.until, findRateLimitLock(further)]).toEqual([Date.parse(resetsAt), undefined]);
  show(state({}), state({ credential: work, rateLimitGraphQL: spent }));
  expect([findRateLimitLock(own), findRateLimitLock(further)?.until]).toEqual([undefined, Date.parse(resetsAt)]);
  expect(listRateLimitLocks().map(rateLimitNoticeId)).toEqual(['lock-cred-1']);
  expect(listRateLimitLocks().map(describeRateLimit)).toEqual([
    expect.stringMatching(/^GitHub \(Work\)’s rate limit is exceeded\. Requests resume at \d/),
  ]);
});

test('recordRateLimit: locks the credential that the error belongs to, until the latest reset', () => {
  const resetsAt = inHours(1);
  const spent = toSpent(resetsAt);
  show(state({ rateLimitREST: spent }), state({ credential: work }));
  const later = inHours(2);
  const error = new ApiError('', { statusCode: 429, body: { error: 'rate_limited', resetsAt: later } });
  recordRateLimit({ forge: 'gitlab' }, error);
  recordRateLimit(further, error);
  expect([findRateLimitLock(own)?.until, findRateLimitLock(further)?.until]).toEqual([
    Date.parse(resetsAt),
    Date.parse(later),
  ]);
  expect(findRateLimitLock({ forge: 'gitlab' })?.until).toBe(Date.parse(later));
  expect(findRateLimitLock({ forge: 'forgejo' })).toBeUndefined();
  endOfTimer();
  expect([findRateLimitLock(own)?.until, findRateLimitLock(further)?.until]).toEqual([undefined, Date.parse(later)]);
  endOfTimer();
  expect(listRateLimitLocks()).toEqual([]);
});
