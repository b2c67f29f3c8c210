import type { PullRequest } from '../../../../src/web/app/board/data/rows.js';
import { listReviewers, toTimeline } from '../../../../src/web/app/board/panel/reviews.js';

const at = (hour: number): string => `2026-05-02T0${hour}:00:00Z`;

test('listReviewers: shows the latest verdict of each reviewer, then the requested ones', () => {
  const reviews = [
    { author: 'lisa', state: 'approved', submittedAt: at(1) },
    { author: 'ravi', state: 'commented', submittedAt: at(2) },
    { author: 'lisa', state: 'changes_requested', submittedAt: at(3) },
    { author: 'lisa', state: 'commented', submittedAt: at(4) },
    { author: 'mona', state: 'approved' },
  ] as const;
  expect(listReviewers(reviews, ['hubot', 'ravi'])).toEqual([
    { name: 'lisa', state: 'changes_requested', at: at(3) },
    { name: 'mona', state: 'approved' },
    { name: 'hubot', state: 'awaited' },
    { name: 'ravi', state: 'awaited' },
  ]);
});

test('toTimeline: sorts by time and omits reviews without one', () => {
  const comment = { author: 'ravi', excerpt: 'Nice.', url: '', createdAt: at(2) };
  const row = { author: 'mona', createdAt: at(1) } as PullRequest;
  const reviews = [
    { author: 'lisa', state: 'approved', submittedAt: at(3) },
    { author: 'lisa', state: 'approved' },
  ] as const;
  expect(toTimeline(row, { reviews, comments: [comment], threads: [] })).toEqual([
    { at: at(1), actor: 'mona', text: 'opened it' },
    { at: at(2), actor: 'ravi', text: 'commented', comment },
    { at: at(3), actor: 'lisa', text: 'approved' },
  ]);
});
