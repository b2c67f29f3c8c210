import type { KyselyPlugin } from 'kysely';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import { consumer, openFixtures, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;
let id: string;

/** The number of rows of each statement, which determines the time until an error. */
let rows: number[];
const counter: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    rows.push(result.rows.length);
    return result;
  },
};

beforeEach(async () => {
  stage = await openFixtures();
  ({ id } = await stage.add({ slug: 'other', usedBy: ['db'] }));
  await stage.add({ slug: 'other', usedBy: ['cache'] });
  rows = [];
});
afterEach(() => stage.database.destroy());

async function countRows(ref: { readonly slug: string; readonly id?: string }): Promise<readonly number[]> {
  rows = [];
  const objects = createSecretStore(stage.database.withPlugin(counter));
  const reading = objects.read(ref, stage.from(consumer('web')));
  await expect(reading).rejects.toMatchObject({ code: 'not_found', message: 'unknown object' });
  return rows;
}

// The benchmark `npm run bench -- secrets` measures the times, which are too unreliable for a test.
test('read: causes the same database work for unknown secrets and for those of other consumers', async () => {
  const unknown = await countRows({ slug: 'unknown' });
  expect(unknown.length).toBeGreaterThan(0);
  expect(unknown.every((count) => count === 0)).toBe(true);
  expect(await countRows({ slug: 'other' })).toEqual(unknown);
  expect(await countRows({ slug: 'other', id })).toEqual(unknown);
});
