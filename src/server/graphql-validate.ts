import { Kind, NoSchemaIntrospectionCustomRule, specifiedRules, validate } from 'graphql';
import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import { refusal } from './graphql-limits.js';

export interface ValidateOptions {
  readonly schema: GraphQLSchema;
  /** Whether queries may ask about the schema itself. */
  readonly introspection: boolean;
}

const MAX_MISTAKES = 100;

/** What is wrong with a document, in the order of validation; a document with very many mistakes is not read to its end. */
export function validateDocument(
  document: DocumentNode,
  { schema, introspection }: ValidateOptions,
): readonly GraphQLError[] {
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const errors = validate(schema, document, rules, { maxErrors: MAX_MISTAKES });
  return errors.flatMap((error) => {
    if (isIntrospection(error)) return refuseIntrospection(error);
    return isAbort(error) ? explain(errors.length, document) : error;
  });
}

/** graphql-js says so when it gives up, and nothing else of it. */
const isAbort = ({ message, nodes }: GraphQLError): boolean => !nodes && message.endsWith('Validation aborted.');

function explain(errors: number, document: DocumentNode): GraphQLError {
  const [first = document] = document.definitions;
  if (errors > MAX_MISTAKES) {
    return refusal(
      `Expected a document that fits the schema; these are the first ${MAX_MISTAKES} of more mistakes.`,
      first,
    );
  }
  return refusal(
    'Expected a document whose repeated fields can be compared in 500,000 steps; this one has too many fields of the same name.',
    first,
  );
}

const isIntrospection = ({ message }: GraphQLError): boolean => message.startsWith('GraphQL introspection has been');

/** Of the fields within, which graphql-js lists too, nothing is to be said. */
function refuseIntrospection({ nodes: [node] = [] }: GraphQLError): readonly GraphQLError[] {
  if (node?.kind !== Kind.FIELD || !node.name.value.startsWith('__')) return [];
  const message = `Expected a question about the site's data; introspection ("${node.name.value}") is switched off.`;
  return [refusal(message, node, 'forbidden')];
}
