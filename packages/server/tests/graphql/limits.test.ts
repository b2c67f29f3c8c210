import type { AppError } from '@trellis/core/errors';
import { GraphQLError, buildSchema, parse } from 'graphql';
import { assertBreadthLimits } from '../../src/graphql/limits.js';
import { createDocumentCache } from '../../src/graphql/request.js';

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Returns the error for a document above a limit. */
function refusalOf(query: string): GraphQLError {
  try {
    assertBreadthLimits(parse(query));
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
  throw new Error('The document was accepted.');
}

const nested = (levels: number): string => `{ ${'a { '.repeat(levels - 1)} b ${'}'.repeat(levels)}`;
const chain = (length: number, spread: (next: string) => string): string =>
  `{ ...F0 } ${times(length, (index) => `fragment F${index} on Query { ${spread(`...F${index + 1}`)} }`)} fragment F${length} on Query { b }`;

describe('GraphQL document limits', () => {
  test.each([
    ['20 levels', nested(20)],
    ['50 root fields', `{ ${times(50, (index) => `f${index}`)} }`],
    ['50 aliases of one field', `{ ${times(50, (index) => `a${index}: b`)} }`],
    ['300 fields in one selection', `{ a { ${times(300, (index) => `f${index}`)} } }`],
    ['a field a hundred times', `{ ${times(100, () => 'a { b }')} }`],
    ['10 directives on a field', `{ a ${times(10, () => '@skip(if: false)')} }`],
    ['3,000 fields in total', `{ ${times(30, (index) => `f${index} { ${times(99, (inner) => `g${inner}`)} }`)} }`],
    ['fragments that fragments share', chain(8, (next) => `${next} ${next}`)],
    ['an unknown fragment', '{ ...Missing }'],
  ])('accepts %s', (_what, query) => {
    expect(() => assertBreadthLimits(parse(query))).not.toThrow();
  });

  test.each([
    ['21 levels', nested(21), 'Expected fields to be nested at most 20 levels deep; received 21 levels.'],
    ['fragments 22 levels deep', chain(21, (next) => `a { ${next} }`), 'received 22 levels'],
    [
      'arguments 31 levels deep',
      `{ a(b: ${'['.repeat(31)}1${']'.repeat(31)}) }`,
      'arguments to be nested at most 30 levels deep',
    ],
    [
      '51 root fields',
      `{ ${times(51, (index) => `f${index}`)} }`,
      'Expected at most 50 root fields in an operation; received 51.',
    ],
    [
      '51 aliases of one field',
      `{ a { ${times(51, (index) => `a${index}: b`)} } }`,
      'Expected at most 50 aliases of one field; received 51.',
    ],
    [
      'aliases of one field in several selections of one object',
      `{ a { ${times(30, (index) => `a${index}: b`)} } ... { a { ${times(30, (index) => `b${index}: b`)} } } }`,
      'Expected at most 50 aliases of one field; received 51.',
    ],
    [
      '301 fields in one selection',
      `{ a { ${times(301, (index) => `f${index}`)} } }`,
      'Expected at most 300 fields in one selection; received 301.',
    ],
    [
      'a field 101 times',
      `{ a { ${times(101, () => 'b')} } }`,
      'Expected the same field at most 100 times in one selection; received it 101 times.',
    ],
    [
      'long arguments of a repeated field',
      `{ ${times(2, () => `a(b: "${'x'.repeat(5000)}")`)} }`,
      'Expected at most 10000 characters of arguments in total for a repeated field; received 10010.',
    ],
    [
      '11 directives',
      `{ a ${times(11, () => '@skip(if: false)')} }`,
      'at most 10 directives in one place; received 11',
    ],
    ['11 directives on a spread', `{ ...F ${times(11, () => '@x')} } fragment F on Query { b }`, 'received 11'],
    [
      'fragments that multiply',
      chain(40, (next) => `${next} ${next}`),
      'Expected at most 3000 fields and fragments in total, with all fragments expanded; received more than a billion.',
    ],
    [
      'unused fragments that multiply',
      `{ b } ${chain(12, (next) => `${next} ${next}`).slice('{ ...F0 }'.length)}`,
      'received 12287',
    ],
    ['a fragment that spreads itself', '{ ...F } fragment F on Query { a { ...F } }', '"F" spreads itself'],
    [
      'an unused cycle of fragments',
      '{ b } fragment F on Query { ...G } fragment G on Query { ...F }',
      '"G" spreads itself',
    ],
  ])('rejects %s with the number and the location', (_what, query, message) => {
    const error = refusalOf(query);
    expect(error.message).toContain(message);
    expect(error.originalError).toMatchObject({ code: 'invalid_input' } satisfies Partial<AppError>);
    expect(error.locations).toHaveLength(1);
  });

  test('measures fragments that multiply without expanding them', () => {
    const document = parse(chain(900, (next) => `${next} ${next}`));
    // Expanding them one by one would never end.
    expect(() => assertBreadthLimits(document)).toThrow('more than a billion');
  });

  describe('a document', () => {
    const prepare = (query: string, introspection = true) =>
      createDocumentCache({ schema: buildSchema('type Query { a: Query, b: String }'), introspection })(query);

    test('of more than 4,000 tokens is rejected', () => {
      expect(() => prepare(`{ ${'b '.repeat(4000)} }`)).toThrow(
        'Expected a document of at most 4000 tokens (names, values and punctuation); received more.',
      );
    });

    test('with many errors gets the first hundred', () => {
      const { errors } = prepare(`{ ${times(45, (index) => `f${index}`)} a { ${times(90, (index) => `g${index}`)} } }`);
      expect(errors).toHaveLength(101);
      expect(errors.at(-1)?.message).toBe('The document has more than 100 errors; only the first 100 are listed.');
    });

    test.each([
      '{ __schema { queryType { name } } }',
      '{ ...F } fragment F on Query { x: __type(name: "Query") { name } }',
    ])('may not use introspection if it is disabled: %s', (query) => {
      expect(prepare(query).errors).toEqual([]);
      const [error, ...more] = prepare(query, false).errors;
      expect(more).toEqual([]);
      expect(error?.message).toMatch(/^Introspection \("__(schema|type)"\) is disabled on this server\.$/);
      expect(error?.originalError).toMatchObject({ code: 'forbidden' });
    });

    test('may query __typename if introspection is disabled', () => {
      expect(prepare('{ __typename }', false).errors).toEqual([]);
    });

    test('is cached if it is valid, and validated again if it is not', () => {
      const documents = createDocumentCache({ schema: buildSchema('type Query { b: String }'), introspection: true });
      expect(documents('{ b }')).toBe(documents('{ b }'));
      expect(documents('{ c }')).not.toBe(documents('{ c }'));
    });
  });
});
