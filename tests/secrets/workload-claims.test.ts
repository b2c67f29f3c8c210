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

const UUID = '{c7a04a76-fa20-43e4-dc42-a7506db4c95b}';

test.each([
  ['ref', 'refs/heads/main', false],
  ['ref_path', 'refs/heads/main', false],
  ['ref', 'feature/a', false],
  ['environment', 'production/eu', false],
  ['workflow', '.github/workflows/deploy.yml', false],
  ['iss', 'https://token.actions.githubusercontent.com', false],
  ['aud', 'https://trellis.example.org/secrets', false],
  ['repo_property_team', 'shop/web', false],
  // Everyone can call a public workflow, and set the template of the subject of their repository.
  ['job_workflow_ref', 'acme/flows/.github/workflows/deploy.yml@refs/heads/main', false],
  ['sub', 'job_workflow_ref:acme/flows/.github/workflows/deploy.yml@refs/heads/main', false],
  ['sub', 'ref:refs/heads/main', false],
  ['sub', 'environment:production:ref:refs/heads/main', false],
  ['sub', 'system:serviceaccount:*', false],
  ['sub', 'system:serviceaccount:*:deploy', false],
  ['sub', 'repo:acme@1234/shop@5678:**', true],
  ['sub', 'repository_owner:acme:environment:production', true],
  ['sub', 'organization:acme:pipeline:*', true],
  ['workflow_ref', 'acme/shop/.github/workflows/deploy.yml@**', true],
  ['repository_id', '5678', true],
  ['repository_id', '5*', false],
  ['repository_owner', 'acme', true],
  ['repository_owner', 'acme*', false],
  ['namespace_path', 'acme', true],
  // Google, Bitbucket and Azure name workloads by a number or a UUID.
  ['sub', '104892101234567890123', true],
  ['sub', '1048921012345678901*', false],
  ['sub', `${UUID}:*`, true],
  ['repositoryUuid', UUID, true],
  ['oid', 'c7a04a76-fa20-43e4-dc42-a7506db4c95b', true],
  ['run_attempt', '1', false],
  ['actor', 'ada', false],
])('the claim %s=%s names the owner: %s', (name, pattern, expected) => {
  expect(isRestricted([{ name, patterns: [pattern] }])).toBe(expected);
});
