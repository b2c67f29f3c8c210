import { saveLatest } from '../../../src/web/app/api.js';

test('saveLatest: during a save, only the newest of the passed values waits to be saved next', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const save = saveLatest((value: string) => {
    begun.push(value);
    return new Promise<void>((end) => ends.push(end));
  });
  for (const value of ['light', 'dark', 'light', 'system']) save(value);
  expect(begun).toEqual(['light']);
  ends[0]!();
  await nextTurn();
  expect(begun).toEqual(['light', 'system']);
  ends[1]!();
  await nextTurn();
  save('dark');
  expect(begun).toEqual(['light', 'system', 'dark']);
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
