import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { findRepeatableDocuments, repeatable } from '../../src/graphql/repeatable.js';

const schema = buildSchema(`
  scalar Date
  interface Node { id: ID!, label: String }
  type Post implements Node { id: ID!, label: String, title: String, date(fromNow: Boolean, difference: String, formatString: String): Date }
  type Page implements Node { id: ID!, label: String }
  union Any = Page | Post
  type Query { post(fromNow: Boolean): Post, node: Node, any: Any, weather: String, total: Int }
`);

const resolvers = {
  Query: { weather: () => 'rain', total: repeatable(() => 1) },
  Post: { label: () => 'now' },
};

function isRepeatable(text: string): boolean {
  const { has, rule } = findRepeatableDocuments(schema, resolvers);
  const document = parse(text);
  expect(validate(schema, document, [...specifiedRules, rule])).toEqual([]);
  return has(document);
}

describe('a document is repeatable', () => {
  test.each([
    ['with stored fields', '{ post { id title date } }'],
    ['with dates in a format', '{ post { date(formatString: "YYYY") } }'],
    ['with an absent argument', '{ post { date(fromNow: null) } }'],
    ['with a marked resolver', '{ total }'],
    ['with an argument of the same name on another type', '{ post(fromNow: true) { id } }'],
    ['with a type without resolvers behind a fragment', '{ any { ... on Page { label } } }'],
    ['with introspection', '{ __schema { types { name } } any { __typename } }'],
  ])('%s', (_reason, text) => expect(isRepeatable(text)).toBe(true));
});

describe('a document is not repeatable', () => {
  test.each([
    ['with a date relative to now', '{ post { date(fromNow: true) } }'],
    ['with a difference', '{ post { date(difference: "days") } }'],
    ['with a variable for such an argument', 'query ($now: Boolean) { post { date(fromNow: $now) } }'],
    ['with an unmarked resolver', '{ weather total }'],
    ['with an unmarked resolver of one type of an interface', '{ node { label } }'],
    ['with one in a fragment', '{ any { ...Label } } fragment Label on Post { title label }'],
  ])('%s', (_reason, text) => expect(isRepeatable(text)).toBe(false));
});
