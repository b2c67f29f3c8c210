import { formatRequestCsv, type LoggedRequest } from '../../src/dashboard/request-log.js';
import { openDashboard, type TestDashboard } from './test-dashboard.js';

let dashboard: TestDashboard;
let clock = 1_700_000_000_000;

beforeEach(async () => {
  dashboard = await openDashboard({ now: () => clock });
});
afterEach(() => dashboard.database.destroy());

const request = { forge: 'github', method: 'GET', endpoint: '/user', outcome: 'success' } as const;
const page = { limit: 10, offset: 0 };

test('request log: keeps the order of entries within a millisecond', async () => {
  const { requestLog, ada } = dashboard;
  for (const statusCode of [200, 201, 202]) await requestLog.record({ ...request, statusCode });
  const { entries, total } = await requestLog.list(ada, page);
  expect([entries.map(({ statusCode }) => statusCode), total]).toEqual([[202, 201, 200], 3]);
});

test('request log: computes the severity of an API quota when it is read', async () => {
  const { requestLog, ada } = dashboard;
  const resetsAt = new Date(clock + 60_000).toISOString();
  await requestLog.record({ ...request, rateLimit: { limit: 60, remaining: 0, resetsAt } });
  const severity = async () => (await requestLog.list(ada, page)).entries[0]?.rateLimit?.severity;
  expect(await severity()).toBe('exceeded');
  clock += 60_000;
  expect(await severity()).toBe('low');
});

test('request log: keeps the newest 10,000 entries', async () => {
  const { requestLog, database, ada } = dashboard;
  const rows = Array.from({ length: 10_000 }, (_, index) => ({
    id: index.toString(16).padStart(26, '0'),
    logged_at: index,
    ...request,
    account: null,
    status_code: null,
    budget: null,
  }));
  for (let start = 0; start < rows.length; start += 2_500) {
    await database
      .insertInto('request_log')
      .values(rows.slice(start, start + 2_500))
      .execute();
  }
  for (let count = 0; count < 100; count += 1) await requestLog.record(request);
  const { entries, total } = await requestLog.list(ada, { limit: 1, offset: 9_999 });
  expect([total, entries[0]?.loggedAt]).toEqual([10_000, new Date(100).toISOString()]);
});

test('request log: rejects users who are not admins', async () => {
  const { requestLog, bob } = dashboard;
  await expect(requestLog.list(bob, page)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(requestLog.exportCsv(bob, {})).rejects.toMatchObject({ code: 'forbidden' });
});

const entry = (change: Partial<LoggedRequest> = {}): LoggedRequest => ({
  loggedAt: '2026-05-02T10:30:00.000Z',
  forge: 'github',
  method: 'GET',
  endpoint: '/user',
  outcome: 'success',
  ...change,
});

const NAMES =
  'loggedAt,forge,method,endpoint,outcome,account,statusCode,rateLimit,rateRemaining,rateResetsAt,rateCost\r\n';

test('formatRequestCsv: has a header row even without entries', async () => {
  await expect(formatRequestCsv([])).resolves.toBe(NAMES);
});

test('formatRequestCsv: leaves unknown values empty', async () => {
  const rateLimit = { limit: 60, remaining: 0, resetsAt: '2026-05-02T11:00:00Z', severity: 'exceeded' } as const;
  await expect(formatRequestCsv([entry(), entry({ account: 'mona', statusCode: 403, rateLimit })])).resolves.toBe(
    `${NAMES}2026-05-02T10:30:00.000Z,github,GET,/user,success,,,,,,\r\n` +
      '2026-05-02T10:30:00.000Z,github,GET,/user,success,mona,403,60,0,2026-05-02T11:00:00Z,\r\n',
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1+1', "'\t=1+1"],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
])('formatRequestCsv: formats %j as %j', async (account, written) => {
  const csv = await formatRequestCsv([entry({ account })]);
  expect(csv).toBe(`${NAMES}2026-05-02T10:30:00.000Z,github,GET,/user,success,${written},,,,,\r\n`);
});
