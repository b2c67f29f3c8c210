import { costOfGithubQuery } from '../../../forges/github-schema.js';

/** The example of GitHub's documentation: 5,101 requests, which cost 51 points. */
const EXAMPLE = `
  query {
    viewer {
      login
      repositories(first: 100) {
        edges { node { id issues(first: 50) { edges { node { id labels(first: 60) { edges { node { id name } } } } } } } }
      }
    }
  }`;

test('costOfGithubQuery: charges for the published example what GitHub says', () => {
  expect(costOfGithubQuery(EXAMPLE, {})).toBe(51);
});

test('costOfGithubQuery: charges at least one point', () => {
  expect(costOfGithubQuery('query { viewer { login } }', {})).toBe(1);
});
