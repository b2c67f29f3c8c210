import { createLog } from '@trellis/server/http/request';
import { createErrorReport } from '../src/telemetry/log.js';

test('an error of a background task is logged again after a minute, and a different one at once', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  let now = 0;
  const report = createErrorReport(createLog({ level: 'error', destination }), 'failed to refresh', () => now);
  const reportAt = (milliseconds: number, message: string): void => {
    now = milliseconds;
    report(new Error(message));
  };
  reportAt(0, 'unavailable');
  reportAt(1, 'unavailable');
  reportAt(2, 'full');
  reportAt(59_999, 'unavailable');
  reportAt(60_000, 'unavailable');
  const logged = lines.map((line) => JSON.parse(line) as { msg: string; err: { message: string } });
  expect(logged.map(({ msg, err }) => [msg, err.message])).toEqual([
    ['failed to refresh', 'unavailable'],
    ['failed to refresh', 'full'],
    ['failed to refresh', 'unavailable'],
  ]);
});
