import { countSlots } from '../../src/render/renderer.js';

const GB = 2 ** 30;

describe('countSlots', () => {
  test.each([
    ['one core', 1, 8, 2],
    ['two cores', 2, 8, 2],
    ['each core', 8, 64, 8],
    ['many cores with little memory', 64, 16, 16],
    ['a very small machine', 1, 0.5, 2],
  ])('returns a job for %s', (_what, cores, memory, slots) => {
    expect(countSlots(cores, memory * GB)).toBe(slots);
  });
});
