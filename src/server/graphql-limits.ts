import { GraphQLError } from 'graphql';
import type { ASTNode } from 'graphql';
import { AppError } from '../core/errors.js';

/** The size limits of a document. */
export const DOCUMENT_LIMITS = {
  /**
   * GraphiQL's introspection has 13 levels; a query of a site crosses edges, node, parent and children about 3 times.
   */
  depth: 20,
  /** Filters nest one level for every field they cross, and several for a relation. */
  valueDepth: 30,
  /** All fields of all record types of a site are about 500; GraphiQL's introspection has 300. */
  selections: 3000,
  /** A file has 60 fields; with fragments for every other record type about 200. */
  breadth: 300,
  /** Each root field runs its own query in the store. */
  rootFields: 50,
  /** Each alias of a field, such as with different arguments, repeats the work of the field. */
  aliases: 50,
  /** Validation compares repeated fields in pairs: 100 fields are about 5,000 pairs. */
  repeats: 100,
  /** Validation prints the arguments of each pair: 100 fields of this total length are a million characters. */
  repeatedArguments: 10_000,
  directives: 10,
  /** Names in the schema have up to 40 characters, but error messages repeat names, and responses repeat aliases. */
  nameLength: 1000,
} as const;

export type LimitName = keyof typeof DOCUMENT_LIMITS;

const EXPECTED: Readonly<Record<LimitName, (limit: number, received: number) => string>> = {
  depth: (limit, received) => `fields to be nested at most ${limit} levels deep; received ${received} levels`,
  valueDepth: (limit) => `arguments to be nested at most ${limit} levels deep; received more levels`,
  selections: (limit, received) =>
    `at most ${limit} fields and fragments in total, with all fragments expanded; received ${amount(received)}`,
  breadth: (limit, received) => `at most ${limit} fields in one selection; received ${received}`,
  rootFields: (limit, received) => `at most ${limit} root fields in an operation; received ${received}`,
  aliases: (limit, received) => `at most ${limit} aliases of one field; received ${received}`,
  repeats: (limit, received) => `the same field at most ${limit} times in one selection; received it ${received} times`,
  repeatedArguments: (limit, received) =>
    `at most ${limit} characters of arguments in total for a repeated field; received ${received}`,
  nameLength: (limit, received) => `names of at most ${limit} characters; received ${received} characters`,
  directives: (limit, received) => `at most ${limit} directives in one place; received ${received}`,
};

/** Nested fragments can multiply to numbers that are too long to print. */
const amount = (received: number): string => (received < 1e9 ? String(received) : 'more than a billion');

/** @throws GraphQLError `invalid_input` with the location of the node, if the number exceeds the limit. */
export function assertLimit(limit: LimitName, received: number, node: ASTNode): void {
  if (received > DOCUMENT_LIMITS[limit]) {
    throw documentError(`Expected ${EXPECTED[limit](DOCUMENT_LIMITS[limit], received)}.`, node);
  }
}

/** Creates an error in the caller's document, with its location. */
export function documentError(
  message: string,
  nodes: ASTNode | readonly ASTNode[],
  code: AppError['code'] = 'invalid_input',
) {
  return new GraphQLError(message, { nodes, originalError: new AppError(code, message) });
}
