import { ageValue } from './age-files.js';
import { START, openFixtures, owner, script, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;

beforeEach(async () => {
  stage = await openFixtures();
});
afterEach(() => stage.database.destroy());

const value = (payload: string, recipients = 1): string => ageValue({ payload, recipients });
const put = (payload: string, recipients?: string[]) =>
  stage.objects.update({ slug: 'a' }, { value: value(payload, 2), recipients }, stage.from(script));
const list = () => stage.versions.list(owner, { slug: 'a' });
const read = async (version: number) =>
  Buffer.from((await stage.versions.read({ slug: 'a', version }, stage.from())).sealed).toString('base64');
const readCurrent = async () =>
  Buffer.from((await stage.objects.read({ slug: 'a' }, stage.from())).sealed).toString('base64');

test('a replaced value becomes a version, with the authors of both values', async () => {
  await stage.add({ value: value('1'), recipients: ['age1x'] });
  stage.advance(1_000);
  await put('2');
  expect(await list()).toEqual([
    {
      version: 1,
      createdAt: new Date(START),
      createdBy: { type: 'session', id: 'admin' },
      replacedAt: new Date(START + 1_000),
      replacedBy: { type: 'token', id: 't1' },
      recipientCount: 1,
      recipients: ['age1x'],
    },
  ]);
  expect([await read(1), await readCurrent()]).toEqual([value('1'), value('2', 2)]);
});

test('only the last 10 versions are stored', async () => {
  await stage.add({ value: value('1') });
  for (let count = 2; count <= 14; count += 1) await put(String(count));
  expect((await list()).map(({ version }) => version)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4]);
  await expect(read(3)).rejects.toMatchObject({ code: 'not_found', message: 'The secret has no previous version 3.' });
  const { count } = await stage.database
    .selectFrom('secret_object_values')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  expect(count).toBe(11);
});

test('restore: makes a version the current value, and the replaced value a version', async () => {
  await stage.add({ value: value('1'), recipients: ['age1x'], usedBy: ['web'], tags: ['t'] });
  await put('2', ['age1y', 'age1z']);
  const restored = await stage.versions.restore({ slug: 'a', version: 1 }, stage.from());
  expect(restored).toMatchObject({ recipients: ['age1x'], recipientCount: 1, usedBy: ['web'], tags: ['t'] });
  expect(await readCurrent()).toBe(value('1'));
  expect((await list()).map(({ version, recipients }) => [version, recipients])).toEqual([
    [2, ['age1y', 'age1z']],
    [1, ['age1x']],
  ]);
  await stage.versions.restore({ slug: 'a', version: 2 }, stage.from());
  expect(await readCurrent()).toBe(value('2', 2));
});

test('the current value is not a version', async () => {
  await stage.add();
  await put('2');
  await expect(read(2)).rejects.toMatchObject({ code: 'not_found' });
  await expect(stage.versions.restore({ slug: 'a', version: 2 }, stage.from())).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('the oldest version can be restored', async () => {
  await stage.add({ value: value('1') });
  for (let count = 2; count <= 11; count += 1) await put(String(count));
  await stage.versions.restore({ slug: 'a', version: 1 }, stage.from());
  expect(await readCurrent()).toBe(value('1'));
});

test('versions are deleted with their variant only', async () => {
  const { id: first } = await stage.add({ usedBy: ['web'] });
  const { id: second } = await stage.add({ usedBy: ['db'] });
  for (const id of [first, second]) {
    await stage.objects.update({ slug: 'a', id }, { value: value('2'), recipients: ['age1x'] }, stage.from());
  }
  await expect(list()).rejects.toMatchObject({ code: 'conflict' });
  await stage.objects.remove({ slug: 'a', id: first }, stage.from());
  expect(await stage.versions.list(owner, { slug: 'a', id: second })).toHaveLength(1);
  const rows = await stage.database.selectFrom('secret_object_recipients').select('object_id').execute();
  expect(rows).toEqual([{ object_id: second }]);
});
