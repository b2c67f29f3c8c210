import { createAuditLog } from '../../src/secrets/audit.js';
import type { AuditFilter } from '../../src/secrets/audit.js';
import { START, openFixtures, owner, script } from './fixtures.js';
import type { SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;

// One entry per second: 1 and 3 by the owner, 2 by a write token.
beforeAll(async () => {
  stage = await openFixtures();
  for (const [slug, caller] of [
    ['a', owner],
    ['b', script],
    ['c', owner],
  ] as const) {
    await stage.add({ slug }, caller);
    stage.advance(1_000);
  }
});
afterAll(() => stage.database.destroy());

test.each<[string, AuditFilter, number[]]>([
  ['no condition', {}, [1, 2, 3]],
  ['a slug', { slug: 'b' }, [2]],
  ['an actor', { actor: 'admin' }, [1, 3]],
  ['a missing credential', { actor: 'none' }, []],
  ['a start time', { from: new Date(START + 1_000) }, [2, 3]],
  ['an end time', { to: new Date(START + 1_000) }, [1]],
  ['several conditions', { from: new Date(START + 1_000), actor: 'admin' }, [3]],
  ['descending order', { order: 'desc' }, [3, 2, 1]],
  ['a preceding entry', { after: 2 }, [3]],
  ['a preceding entry in descending order', { order: 'desc', after: 3 }, [2, 1]],
  ['a limit', { limit: 2 }, [1, 2]],
])('query: filters the audit log by %s', async (_reason, filter, ids) => {
  const { entries, total } = await createAuditLog(stage.database).query(owner, filter);
  expect(entries.map(({ id }) => id)).toEqual(ids);
  const isUnfiltered = Object.keys(filter).every((name) => ['after', 'limit', 'order'].includes(name));
  expect(total).toBe(isUnfiltered ? 3 : ids.length);
});
