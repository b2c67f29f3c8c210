import type { SlowStatement } from '@trellis/core/telemetry';
import { createLog } from '@trellis/server/http/request';
import { openDatabase } from '../../src/storage/open-database.js';
import { createStatementLog } from '../../src/storage/statement-log.js';
import { createDatabaseTarget, engine } from './engine.js';

type Line = Readonly<Record<string, unknown>>;

function openLog(now: () => number) {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  return { lines, watch: createStatementLog(createLog({ level: 'info', destination }), 100, now)! };
}

describe('slow statements', () => {
  test('are reported with their plan, without the values', async () => {
    const slow: SlowStatement[] = [];
    const watch = { slowMs: 0, onSlow: (statement: SlowStatement) => void slow.push(statement) };
    const database = await openDatabase(await createDatabaseTarget(), { watch });
    try {
      slow.length = 0;
      await database.selectFrom('people').select('id').where('username', '=', 'a-secret-value').execute();
      await database.transaction().execute((transaction) => transaction.selectFrom('people').select('id').execute());
      expect(slow.map(({ text }) => text)).toEqual([
        expect.stringContaining('"username" ='),
        'select "id" from "people"',
      ]);
      const plan = await slow[0]!.explain();
      expect(plan).toContain(engine === 'SQLite' ? 'people' : 'Scan');
      expect(plan).not.toContain('a-secret-value');
    } finally {
      await database.destroy();
    }
  });

  test('are logged with the plan once an hour', async () => {
    let now = 0;
    const { lines, watch } = openLog(() => now);
    const statement = { text: 'select 1', milliseconds: 123.4, explain: () => 'SCAN' };
    for (now of [0, 1_000, 3_700_000]) {
      watch.onSlow(statement);
      await new Promise(setImmediate);
    }
    expect(lines.map(({ statement: text, milliseconds, plan }) => [text, milliseconds, plan])).toEqual([
      ['select 1', 123, 'SCAN'],
      ['select 1', 123, undefined],
      ['select 1', 123, 'SCAN'],
    ]);
  });

  test('fill at most 60 lines a minute, and may have no plan', async () => {
    const { lines, watch } = openLog(() => 0);
    const explain = () => Promise.reject(new Error('no plan'));
    for (let index = 0; index < 100; index += 1) watch.onSlow({ text: `select ${index}`, milliseconds: 500, explain });
    await new Promise(setImmediate);
    expect(lines).toHaveLength(60);
    expect(lines[0]).toMatchObject({ msg: 'slow statement', plan: 'Error: no plan' });
  });

  test('are not watched for with a threshold of 0', () => {
    expect(createStatementLog(createLog({ level: 'silent' }), 0)).toBeUndefined();
  });
});
