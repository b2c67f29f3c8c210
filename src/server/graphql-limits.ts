import { GraphQLError } from 'graphql';
import type { ASTNode } from 'graphql';
import { AppError } from '../errors.js';

/** How large a document may be, whatever it asks for. */
export const DOCUMENT_LIMITS = {
  /** GraphiQL's introspection is 13 deep; a site's query crosses edges, node, parent and children some three times. */
  depth: 20,
  /** Filters nest one level for every field they cross, and a relation is several. */
  valueDepth: 30,
  /** Every field of every kind of a site is some 500; GraphiQL's introspection is 300. */
  selections: 3000,
  /** A file has 60 fields; with fragments for every other kind, some 200. */
  breadth: 300,
  /** Each is a question of its own to the store. */
  rootFields: 50,
  /** One field may be asked with other arguments, under another name: each repeats its work. */
  aliases: 50,
  /** Fragments repeat fields, which validation compares in pairs: of a hundred, 5,000. */
  repeats: 100,
  /** Validation prints the arguments of each such pair: a hundred of them, at this length in all, are a million characters. */
  repeatedArguments: 10_000,
  directives: 10,
  /** Names of the schema have up to 40 characters, but errors repeat names, and answers repeat aliases. */
  nameLength: 1000,
} as const;

export type LimitName = keyof typeof DOCUMENT_LIMITS;

const EXPECTED: Readonly<Record<LimitName, (limit: number, received: number) => string>> = {
  depth: (limit, received) => `fields at most ${limit} levels deep; received ${received} levels`,
  valueDepth: (limit) => `arguments at most ${limit} levels deep; received deeper ones`,
  selections: (limit, received) =>
    `at most ${limit} fields and fragments in all, counted where fragments are spread; received ${amount(received)}`,
  breadth: (limit, received) => `at most ${limit} fields beside each other; received ${received}`,
  rootFields: (limit, received) => `at most ${limit} fields of an operation itself; received ${received}`,
  aliases: (limit, received) => `one field under at most ${limit} names; received ${received}`,
  repeats: (limit, received) => `the same field at most ${limit} times in one place; received it ${received} times`,
  repeatedArguments: (limit, received) =>
    `arguments of at most ${limit} characters in all for a field that is repeated; received ${received}`,
  nameLength: (limit, received) => `names of at most ${limit} characters; received one of ${received}`,
  directives: (limit, received) => `at most ${limit} directives in one place; received ${received}`,
};

/** Fragments that spread fragments multiply beyond what digits tell. */
const amount = (received: number): string => (received < 1e9 ? String(received) : 'more than a billion');

/** @throws GraphQLError `invalid_input` that points at the node, when there is more than the limit. */
export function requireWithin(limit: LimitName, received: number, node: ASTNode): void {
  if (received > DOCUMENT_LIMITS[limit]) {
    throw refusal(`Expected ${EXPECTED[limit](DOCUMENT_LIMITS[limit], received)}.`, node);
  }
}

/** An error of the caller's document that says where it is. */
export function refusal(
  message: string,
  nodes: ASTNode | readonly ASTNode[],
  code: AppError['code'] = 'invalid_input',
) {
  return new GraphQLError(message, { nodes, originalError: new AppError(code, message) });
}
