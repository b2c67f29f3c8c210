import { buildSchema, getOperationAST, parse, specifiedRules, validate } from 'graphql';
import { findRepeatableDocuments, repeatable } from '../../src/graphql/repeatable.js';
import { tables } from '../query/tables.js';

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
  const { has, rule } = findRepeatableDocuments({ schema, resolvers, tables: {} });
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

describe('the record types that an operation reads', () => {
  const site = buildSchema(`
    scalar Filter
    scalar Sort
    interface Node { id: ID! }
    type Item implements Node { id: ID!, parent: Node, linked: Item, tagged: [Part!], loud: String, text: String }
    type Part implements Node { id: ID!, name: String, taggedBy: [Item!]! }
    type ItemConnection { nodes: [Item!]!, group(field: String): [ItemGroupConnection!]!, distinct(field: String): [String!]! }
    type ItemGroupConnection { nodes: [Item!]! }
    type Query {
      item(text: Filter, chosenBy: Filter, linked: Filter): Item, part(name: Filter): Part
      allItem(filter: Filter, sort: Sort, limit: Int): ItemConnection!, weather: String, count: Int
    }
  `);
  const written = {
    Query: { weather: repeatable(() => 'rain'), count: repeatable(() => 1, ['Post']) },
    Item: { loud: repeatable(() => 'loud', []) },
  };

  function kindsOf(text: string, variables?: Readonly<Record<string, unknown>>): readonly string[] | undefined {
    const application = { schema: site, resolvers: written, tables };
    const documents = findRepeatableDocuments(application);
    const document = parse(text);
    expect(validate(site, document, [...specifiedRules, documents.rule])).toEqual([]);
    const kinds = documents.kindsOf(document, getOperationAST(document)!, variables);
    return kinds && [...kinds].sort();
  }

  test.each<[string, string, readonly string[] | undefined]>([
    ['stored fields', '{ allItem { nodes { text } } }', ['Item']],
    ['introspection', '{ __typename allItem { __typename } }', ['Item']],
    ['a relation', '{ item { tagged { id } } }', ['Item', 'Part']],
    ['a relation in a fragment', '{ item { ...On } } fragment On on Item { tagged { id } }', ['Item', 'Part']],
    ['a relation to any record', '{ item { parent { id } } }', undefined],
    ['a resolver that names what it reads', '{ count }', ['Post']],
    ['a resolver that reads its own record', '{ item { loud } }', ['Item']],
    ['a resolver that may read anything', '{ weather }', undefined],
    [
      'a filter of one record',
      '{ item(linked: { tagged: { elemMatch: { name: { eq: "a" } } } }) { id } }',
      ['Item', 'Part'],
    ],
    [
      'a filter',
      '{ allItem(filter: { text: { in: ["a"] }, tagged: { elemMatch: {} } }) { nodes { id } } }',
      ['Item', 'Part'],
    ],
    ['a filter behind or', '{ allItem(filter: { or: [{ not: { tagged: {} } }] }) { nodes { id } } }', ['Item', 'Part']],
    ['a filter by any record', '{ allItem(filter: { parent: { id: { eq: "a" } } }) { nodes { id } } }', undefined],
    ['a sort', '{ allItem(sort: { fields: [text, tagged___name] }) { nodes { id } } }', ['Item', 'Part']],
    ['a group', '{ allItem { group(field: "linked___tagged___name") { nodes { id } } } }', ['Item', 'Part']],
    ['distinct values', '{ allItem { distinct(field: "children___id") } }', undefined],
  ])('%s', (_name, text, expected) => expect(kindsOf(text)).toEqual(expected));

  test('depend on variables, and on their defaults', () => {
    const text =
      'query ($filter: Filter = { linked: { tagged: {} } }, $sort: Sort) { allItem(filter: $filter, sort: $sort) { nodes { id } } }';
    expect(kindsOf(text)).toEqual(['Item', 'Part']);
    expect(kindsOf(text, { filter: null })).toEqual(['Item']);
    expect(kindsOf(text, { filter: { linked: { text: { eq: 'tagged' } } } })).toEqual(['Item']);
    expect(kindsOf(text, { filter: {}, sort: { fields: 'tagged___name' } })).toEqual(['Item', 'Part']);
    expect(kindsOf(text, { filter: { or: { parent: { id: {} } } } })).toBeUndefined();
  });
});
