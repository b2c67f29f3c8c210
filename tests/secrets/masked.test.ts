import type { KyselyPlugin } from 'kysely';
import { createSecretObjects } from '../../src/secrets/objects.js';
import { consumer, openStage } from './stage.js';
import type { Stage } from './stage.js';

let stage: Stage;
let id: string;

/** How many rows each statement gave, which is what a refusal takes time for. */
let rows: number[];
const counter: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    rows.push(result.rows.length);
    return result;
  },
};

beforeEach(async () => {
  stage = await openStage();
  ({ id } = await stage.add({ slug: 'other', usedBy: ['db'] }));
  await stage.add({ slug: 'other', usedBy: ['cache'] });
  rows = [];
});
afterEach(() => stage.database.destroy());

async function workOf(ref: { readonly slug: string; readonly id?: string }): Promise<readonly number[]> {
  rows = [];
  const objects = createSecretObjects(stage.database.withPlugin(counter));
  const reading = objects.read(ref, stage.from(consumer('web')));
  await expect(reading).rejects.toMatchObject({ code: 'not_found', message: 'unknown object' });
  return rows;
}

// Clocks say the same (`npm run bench -- secrets`), but not in a test that has to hold on every machine.
test('a consumer is refused by the same statements, without a row, whether or not somebody has the name', async () => {
  const unknown = await workOf({ slug: 'nobody-has-this' });
  expect(unknown.length).toBeGreaterThan(0);
  expect(unknown.every((count) => count === 0)).toBe(true);
  expect(await workOf({ slug: 'other' })).toEqual(unknown);
  expect(await workOf({ slug: 'other', id })).toEqual(unknown);
});
