import { formatRequestCsv } from '../../src/dashboard/request-csv.js';
import type { LoggedRequest } from '../../src/dashboard/request-log.js';

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

test('formatRequestCsv: has a header row even without entries', () => {
  expect(formatRequestCsv([])).toBe(NAMES);
});

test('formatRequestCsv: leaves unknown values empty', () => {
  const rateLimit = { limit: 60, remaining: 0, resetsAt: '2026-05-02T11:00:00Z', severity: 'exceeded' } as const;
  expect(formatRequestCsv([entry(), entry({ account: 'mona', statusCode: 403, rateLimit })])).toBe(
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
])('formatRequestCsv: formats %j as %j', (account, written) => {
  const row = formatRequestCsv([entry({ account })]).slice(NAMES.length);
  expect(row).toBe(`2026-05-02T10:30:00.000Z,github,GET,/user,success,${written},,,,,\r\n`);
});
