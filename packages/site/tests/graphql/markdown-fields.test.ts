import { printContents } from '../../src/graphql/computed-fields.js';

/** The result of gatsby-transformer-remark in its own tests (MIT licence), without line ends and paragraphs. */
test('a table of contents nests deeper headings', () => {
  const headings = ['first', 'second', 'third'].map((name, index) => ({
    depth: index === 1 ? 2 : 1,
    value: `${name} title`,
    id: `${name}-title`,
  }));
  expect(printContents(headings)).toBe(
    '<ul><li><a href="#first-title">first title</a><ul><li><a href="#second-title">second title</a></li></ul></li><li><a href="#third-title">third title</a></li></ul>',
  );
});
