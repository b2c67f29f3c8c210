import {
  assignPositions,
  MAX_ENTRIES,
  nextPosition,
  POSITION_GAP,
  POSITIONS_PER_SOURCE,
} from '../../src/sources/site-sources.js';

const [none] = [undefined];

test.each([
  ['a fresh folder', [none, none, none], [POSITION_GAP, 2 * POSITION_GAP, 3 * POSITION_GAP]],
  ['nothing new', [POSITION_GAP, 2 * POSITION_GAP], [POSITION_GAP, 2 * POSITION_GAP]],
  ['one between two', [POSITION_GAP, none, 2 * POSITION_GAP], [POSITION_GAP, 1.5 * POSITION_GAP, 2 * POSITION_GAP]],
  ['three between two', [8, none, none, none, 16], [8, 10, 12, 14, 16]],
  ['one before all', [none, POSITION_GAP], [POSITION_GAP / 2, POSITION_GAP]],
  ['two after all', [5, none, none], [5, 5 + POSITION_GAP, 5 + 2 * POSITION_GAP]],
])('givePositions: assigns ordered positions: %s', (_, known, positions) => {
  expect(assignPositions(known)).toEqual(positions);
});

test.each([
  ['there is no number between the neighbours', [7, none, 8]],
  ['the known ones are out of order', [9, none, 3]],
  ['the end is reached', [POSITIONS_PER_SOURCE, none]],
])('givePositions: returns undefined when %s', (_, known) => {
  expect(assignPositions(known)).toBeUndefined();
});

test('givePositions: allows 24 insertions at the same place one by one', () => {
  let known = [nextPosition(0), nextPosition(1)];
  for (let count = 0; count < 24; count += 1) known = assignPositions([known[0], none, ...known.slice(1)]) ?? [];
  expect(new Set(known).size).toBe(26);
});

test('positions of the maximum number of entries are safe integers', () => {
  expect(nextPosition(MAX_ENTRIES - 1)).toBeLessThan(POSITIONS_PER_SOURCE);
  expect(Number.isSafeInteger(POSITIONS_PER_SOURCE * 512 - 1)).toBe(true);
});
