import { isRestricted, matchesClaimPattern } from '../../src/secrets/workload/rules.js';

test.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['*', 'abc', true],
  ['*', '', true],
  ['*', 'a/b', false],
  ['*', 'a:b', false],
  ['**', 'a/b:c', true],
  ['repo:acme/*:ref:refs/heads/**', 'repo:acme/shop:ref:refs/heads/a/b', true],
  ['repo:acme/*:ref:refs/heads/*', 'repo:acme/shop:ref:refs/heads/a/b', false],
  ['repo:acme/*', 'repo:acme/shop:ref:x', false],
  ['a*b*c', 'aXbYc', true],
  ['a*b*c', 'aXbY', false],
  ['***', 'a/b', true],
  ['a.c', 'abc', false],
  ['A', 'a', false],
  ['a?', 'a?', true],
])('the pattern %s matches %s: %s', (pattern, value, expected) => {
  expect(matchesClaimPattern(pattern, value)).toBe(expected);
});

test('a pattern takes little time whatever its value is', () => {
  const pattern = `${'*a'.repeat(100)}b`;
  const from = process.cpuUsage();
  expect(matchesClaimPattern(pattern, 'a'.repeat(1_024))).toBe(false);
  expect(matchesClaimPattern(pattern, 'a'.repeat(1_025))).toBe(false);
  expect(process.cpuUsage(from).user / 1_000).toBeLessThan(5_000);
});

test.each([
  ['acme/shop', true],
  ['repo:acme/*', true],
  ['repo:acme/shop:environment:prod', true],
  ['system:serviceaccount:shop:*', true],
  ['repo:acme*', false],
  ['repo:*/shop', false],
  ['production', false],
  ['**', false],
])('the pattern %s names the owner: %s', (pattern, expected) => {
  expect(isRestricted([{ name: 'sub', patterns: [pattern] }])).toBe(expected);
});
