import { findDueWork, findReaders, sortByDue } from '../../../src/web/app/secrets/metadata.js';

test('findReaders: compares the recipients of a value with the current keys', () => {
  const object = { used_by: ['shop', 'api', 'old'], recipients: ['age1own', 'age1shop', 'age1former'] };
  const consumers = [
    { name: 'shop', secret_count: 1, public_key: 'age1shop' },
    { name: 'api', secret_count: 1, public_key: 'age1new' },
    { name: 'old', secret_count: 1 },
  ];
  expect(findReaders(object, 'age1own', consumers).map(({ name, key, state }) => [name, key, state])).toEqual([
    ['You', 'age1own', 'current'],
    ['shop', 'age1shop', 'current'],
    ['api', 'age1new', 'outdated'],
    ['old', undefined, 'no-key'],
    [undefined, 'age1former', 'unknown'],
  ]);
});

describe('work that is due', () => {
  const NOW = Date.parse('2026-05-31T00:00:00Z');
  const day = (days: number): string => new Date(NOW + days * 86_400_000).toISOString();
  const secret = (slug: string, more: object = {}) => ({ id: slug, slug, tags: [], ...more });
  const overdue = secret('overdue', { rotation_due_at: day(-3), rotation_due: true });
  const soon = secret('soon', { rotation_due_at: day(13), rotation_due: false });
  const later = secret('later', { rotation_due_at: day(15), rotation_due: false });
  const reseal = secret('reseal', { reseal: { reason: 'keys_changed' } });

  test('findDueWork: finds values to re-encrypt, and to rotate within 14 days', () => {
    expect([reseal, overdue, soon].map((one) => findDueWork(one as never, NOW)?.isOverdue)).toEqual([
      true,
      true,
      false,
    ]);
    expect(findDueWork(later, NOW)).toBeUndefined();
    expect(findDueWork(secret('plain'), NOW)).toBeUndefined();
  });

  test('sortByDue: lists due work first, and the rest by name', () => {
    const all = [secret('b'), later, soon, secret('a'), overdue, reseal] as never;
    expect(sortByDue(all, NOW).map(({ slug }) => slug)).toEqual(['reseal', 'overdue', 'soon', 'a', 'b', 'later']);
  });
});
