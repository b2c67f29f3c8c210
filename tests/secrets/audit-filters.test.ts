import { createAuditLog } from '../../src/secrets/audit.js';
import type { AuditFilter } from '../../src/secrets/audit.js';
import { START, openStage, owner, script } from './stage.js';
import type { Stage } from './stage.js';

let stage: Stage;

// One entry a second: 1 and 3 by the owner, 2 by a script.
beforeAll(async () => {
  stage = await openStage();
  for (const [slug, caller] of [
    ['a', owner],
    ['b', script],
    ['c', owner],
  ] as const) {
    await stage.add({ slug }, caller);
    stage.pass(1_000);
  }
});
afterAll(() => stage.database.destroy());

test.each<[string, AuditFilter, number[]]>([
  ['nothing', {}, [1, 2, 3]],
  ['a slug', { slug: 'b' }, [2]],
  ['an actor', { actor: 'admin' }, [1, 3]],
  ['requests without a credential', { actor: 'none' }, []],
  ['a moment and later', { from: new Date(START + 1_000) }, [2, 3]],
  ['before a moment', { to: new Date(START + 1_000) }, [1]],
  ['several at once', { from: new Date(START + 1_000), actor: 'admin' }, [3]],
  ['the newest first', { order: 'desc' }, [3, 2, 1]],
  ['behind an entry', { after: 2 }, [3]],
  ['behind an entry, the newest first', { order: 'desc', after: 3 }, [2, 1]],
  ['so many', { limit: 2 }, [1, 2]],
])('the audit log is asked for %s', async (_reason, filter, ids) => {
  const { entries, total } = await createAuditLog(stage.database).query(owner, filter);
  expect(entries.map(({ id }) => id)).toEqual(ids);
  const isWhole = Object.keys(filter).every((name) => ['after', 'limit', 'order'].includes(name));
  expect(total).toBe(isWhole ? 3 : ids.length);
});
