import { groupByAge, groupCiByRepository } from '../../../src/web/app/insights/chart-data.js';
import { pullRequest as row } from '../../dashboard/pull-request.js';

test('groupCiByRepository: counts the CI states of each repository of each forge, largest first', () => {
  const rows = [row({ forge: 'gitlab' }), row({ ci: 'failure' }), row({ ci: 'success' }), row({ ci: 'failure' })];
  expect(groupCiByRepository(rows)).toEqual([
    { label: 'acme/shop (GitHub)', parts: [1, 0, 2, 0], note: '2 failing' },
    { label: 'acme/shop (GitLab)', parts: [1, 0, 0, 0] },
  ]);
});

test('groupByAge: counts an age at a boundary in the older group', () => {
  const now = Date.parse('2026-05-31T00:00:00Z');
  const days = [0, 0.9, 1, 3, 6.9, 7, 30, 400];
  const items = days.map((age) => ({ createdAt: new Date(now - age * 86_400_000).toISOString() }));
  expect(groupByAge(items, now).map(({ parts }) => parts[0])).toEqual([2, 1, 2, 1, 2]);
});
