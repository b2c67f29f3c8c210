import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DatabaseSync } from '@photostructure/sqlite';
import { Statements } from '../../src/records/sql.js';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('an iteration continues after a garbage collection', async () => {
  const database = new DatabaseSync(':memory:', { returnArrays: true });
  const statements = new Statements(database);
  const values: unknown[] = [];
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n';
  for (const [value] of statements.iterate(numbers)) {
    values.push(value);
    if (values.length % 100 !== 0) continue;
    collectGarbage();
    // Finalizers run in a later turn. New statements would reuse the memory of a freed one.
    await turn();
    for (let other = 0; other < 50; other += 1) statements.all(`SELECT ${other}`);
  }
  expect(values).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  database.close();
});
