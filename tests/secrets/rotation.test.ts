import { listDueRotations, recordDueRotations } from '../../src/secrets/rotation.js';
import { ageValue } from './age-files.js';
import { DAY_MS, openFixtures, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;

beforeEach(async () => {
  stage = await openFixtures();
});
afterEach(() => stage.database.destroy());

const recordDue = () => recordDueRotations(stage.database, stage.now());

test('a due rotation is recorded once, despite concurrent checks', async () => {
  await stage.add({ slug: 'a', rotateAfterDays: 1 });
  await stage.add({ slug: 'b', rotateAfterDays: 2 });
  await stage.add({ slug: 'c' });
  await recordDue();
  expect(await stage.listActions()).toHaveLength(3);
  stage.advance(DAY_MS);
  await Promise.all([recordDue(), recordDue(), recordDue()]);
  expect((await stage.listActions()).slice(3)).toEqual(['rotation_due a']);
  const entry = await stage.database
    .selectFrom('audit_log')
    .select(['actor_type', 'actor_id', 'caller'])
    .where('action', '=', 'rotation_due')
    .executeTakeFirstOrThrow();
  expect(Object.values(entry)).toEqual([null, null, null]);
});

test('the next value is recorded when it is due', async () => {
  await stage.add({ rotateAfterDays: 1 });
  stage.advance(DAY_MS);
  await recordDue();
  await stage.objects.update({ slug: 'a' }, { value: ageValue() }, stage.from());
  await recordDue();
  expect(await stage.listActions()).toEqual(['create a', 'rotation_due a', 'update a']);
  stage.advance(DAY_MS);
  await recordDue();
  expect((await stage.listActions()).at(-1)).toBe('rotation_due a');
});

test('listDueRotations: lists the due secrets, those that are due the longest first, until their value is replaced', async () => {
  await stage.add({ slug: 'a', rotateAfterDays: 2 });
  await stage.add({ slug: 'b', rotateAfterDays: 1 });
  await stage.add({ slug: 'c', rotateAfterDays: 9 });
  await stage.add({ slug: 'd' });
  const list = async () => (await listDueRotations(stage.database, stage.now())).map(({ slug }) => slug);
  expect(await list()).toEqual([]);
  stage.advance(2 * DAY_MS);
  expect(await list()).toEqual(['b', 'a']);
  await stage.objects.update({ slug: 'b' }, { value: ageValue() }, stage.from());
  expect(await list()).toEqual(['a']);
});

test('due rotations are all recorded, also beyond one transaction', async () => {
  for (let count = 0; count < 101; count += 1) await stage.add({ slug: `s${count}`, rotateAfterDays: 1 });
  stage.advance(DAY_MS);
  await recordDue();
  expect((await stage.listActions()).filter((action) => action.startsWith('rotation_due'))).toHaveLength(101);
});
