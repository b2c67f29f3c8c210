import { createRateCounter } from '../../src/server/http/rate-limits.js';

test('the rate counter evicts the least recently used key, so that its memory is bounded', () => {
  const counter = createRateCounter(() => 0);
  counter.take('first');
  counter.take('second');
  for (let key = 0; key < 99_998; key += 1) counter.take(String(key));
  counter.take('first');
  counter.take('one more');
  expect(counter.find('first')?.taken).toBe(2);
  expect(counter.find('second')).toBeUndefined();
});
