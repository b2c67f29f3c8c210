import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isCompositeType,
  type GraphQLNamedType,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  type SelectionSetNode,
  validate,
} from 'graphql';
import { installTool } from '../../tools/install.js';

installTool('tools/witnesses');

interface Published {
  readonly schema: GraphQLSchema;
  /** The valid queries so far. */
  readonly documents: Map<string, DocumentNode>;
}

/** The global property with the schema. Workers keep modules of tests for one file only, and this one is large. */
const PUBLISHED = Symbol.for('trellis.github-schema');
const worker = globalThis as { [PUBLISHED]?: Published };

const { schema, documents } = (worker[PUBLISHED] ??= {
  schema: buildSchema(readFileSync('tools/witnesses/node_modules/@octokit/graphql-schema/schema.graphql', 'utf8'), {
    assumeValid: true,
    noLocation: true,
  }),
  documents: new Map<string, DocumentNode>(),
});

/** GitHub's published schema. */
export const githubSchema = schema;

/** Parses a query. @throws Error for a query that GitHub would reject, or that uses a deprecated field. */
export function parseGithubQuery(query: string): DocumentNode {
  const known = documents.get(query);
  if (known !== undefined) return known;
  const document = parse(query);
  const [error] = [...validate(githubSchema, document), ...validate(githubSchema, document, [NoDeprecatedCustomRule])];
  if (error !== undefined) throw error;
  documents.set(query, document);
  return document;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * Computes the points that GitHub charges for a query: the requests for each connection, as if every page were full, by
 * hundred, and at least one.
 *
 * @see https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
 */
export function costOfGithubQuery(query: string, variables: Variables): number {
  const document = parseGithubQuery(query);
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );

  function requestsOf({ selections }: SelectionSetNode, type: GraphQLNamedType, parents: number): number {
    let requests = 0;
    for (const one of selections) {
      if (one.kind === Kind.FIELD) requests += requestsOfField(one, type, parents);
      else {
        const target = one.kind === Kind.FRAGMENT_SPREAD ? fragments.get(one.name.value) : one;
        const name = target?.typeCondition?.name.value;
        const on = name === undefined ? type : githubSchema.getType(name);
        if (target && on) requests += requestsOf(target.selectionSet, on, parents);
      }
    }
    return requests;
  }

  function requestsOfField(field: FieldNode, parent: GraphQLNamedType, parents: number): number {
    if (field.selectionSet === undefined || !('getFields' in parent)) return 0;
    const found = (parent as GraphQLObjectType).getFields()[field.name.value];
    if (found === undefined) return 0;
    const type = getNamedType(found.type);
    if (!isCompositeType(type)) return 0;
    const isConnection = type.name.endsWith('Connection');
    const items = isConnection ? parents * (readCount(field, variables) ?? 1) : parents * countIds(field, variables);
    return (isConnection ? parents : 0) + requestsOf(field.selectionSet, type, items);
  }

  const [operation] = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const root = operation && githubSchema.getRootType(operation.operation);
  if (!operation || !root) throw new Error('The document has no operation.');
  return Math.max(Math.round(requestsOf(operation.selectionSet, root, 1) / 100), 1);
}

/** Reads the page size of a connection. */
function readCount({ arguments: given = [] }: FieldNode, variables: Variables): number | undefined {
  const value = given.find(({ name }) => name.value === 'first' || name.value === 'last')?.value;
  if (value?.kind === Kind.VARIABLE) return Number(variables[value.name.value]);
  return value?.kind === Kind.INT ? Number(value.value) : undefined;
}

/** Returns the number of nodes that `nodes(ids:)` reads, and 1 for every other field. */
function countIds({ name, arguments: given = [] }: FieldNode, variables: Variables): number {
  const value = name.value === 'nodes' ? given.find((one) => one.name.value === 'ids')?.value : undefined;
  const ids = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return Array.isArray(ids) ? ids.length : 1;
}
