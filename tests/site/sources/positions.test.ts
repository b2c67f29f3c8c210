import { END, freshPosition, GAP, givePositions, MAX_ENTRIES } from '../../../src/site/sources/positions.js';

const [none] = [undefined];

test.each([
  ['a fresh folder', [none, none, none], [GAP, 2 * GAP, 3 * GAP]],
  ['nothing new', [GAP, 2 * GAP], [GAP, 2 * GAP]],
  ['one between two', [GAP, none, 2 * GAP], [GAP, 1.5 * GAP, 2 * GAP]],
  ['three between two', [8, none, none, none, 16], [8, 10, 12, 14, 16]],
  ['one before all', [none, GAP], [GAP / 2, GAP]],
  ['two after all', [5, none, none], [5, 5 + GAP, 5 + 2 * GAP]],
])('givePositions: assigns ordered positions: %s', (_, known, positions) => {
  expect(givePositions(known)).toEqual(positions);
});

test.each([
  ['there is no number between the neighbours', [7, none, 8]],
  ['the known ones are out of order', [9, none, 3]],
  ['the end is reached', [END, none]],
])('givePositions: returns undefined when %s', (_, known) => {
  expect(givePositions(known)).toBeUndefined();
});

test('givePositions: allows 24 insertions at the same place one by one', () => {
  let known = [freshPosition(0), freshPosition(1)];
  for (let count = 0; count < 24; count += 1) known = givePositions([known[0], none, ...known.slice(1)]) ?? [];
  expect(new Set(known).size).toBe(26);
});

test('positions of the maximum number of entries are safe integers', () => {
  expect(freshPosition(MAX_ENTRIES - 1)).toBeLessThan(END);
  expect(Number.isSafeInteger(END * 512 - 1)).toBe(true);
});
