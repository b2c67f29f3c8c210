import { keepNewest } from '../../../src/web/app/shell/keep-newest.js';

test('of what is chosen while something is being kept, the newest alone is kept next', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const choose = keepNewest((value: string) => {
    begun.push(value);
    return new Promise<void>((end) => ends.push(end));
  });
  for (const value of ['light', 'dark', 'light', 'system']) choose(value);
  expect(begun).toEqual(['light']);
  ends[0]!();
  await nextTurn();
  expect(begun).toEqual(['light', 'system']);
  ends[1]!();
  await nextTurn();
  choose('dark');
  expect(begun).toEqual(['light', 'system', 'dark']);
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
