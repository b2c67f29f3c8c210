import { Kind, NoSchemaIntrospectionCustomRule, specifiedRules, validate } from 'graphql';
import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import { documentError } from './graphql-limits.js';

export interface ValidateDocumentOptions {
  readonly schema: GraphQLSchema;
  /** Whether queries may use introspection. */
  readonly introspection: boolean;
}

const MAX_ERRORS = 100;

/** Returns the errors in a document in the order of validation, which stops after {@link MAX_ERRORS}. */
export function validateDocument(
  document: DocumentNode,
  { schema, introspection }: ValidateDocumentOptions,
): readonly GraphQLError[] {
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS });
  return errors.flatMap((error) => {
    if (isIntrospection(error)) return toIntrospectionErrors(error);
    return isAbort(error) ? explain(errors.length, document) : error;
  });
}

/** Returns whether the error means that graphql-js has aborted validation. */
const isAbort = ({ message, nodes }: GraphQLError): boolean => !nodes && message.endsWith('Validation aborted.');

function explain(errors: number, document: DocumentNode): GraphQLError {
  const [first = document] = document.definitions;
  if (errors > MAX_ERRORS) {
    return documentError(
      `The document has more than ${MAX_ERRORS} errors; only the first ${MAX_ERRORS} are listed.`,
      first,
    );
  }
  return documentError('The document repeats too many fields: validation stopped after 500,000 comparisons.', first);
}

const isIntrospection = ({ message }: GraphQLError): boolean => message.startsWith('GraphQL introspection has been');

/** Drops the errors that graphql-js adds for the fields inside of an introspection field. */
function toIntrospectionErrors({ nodes: [node] = [] }: GraphQLError): readonly GraphQLError[] {
  if (node?.kind !== Kind.FIELD || !node.name.value.startsWith('__')) return [];
  const message = `Introspection ("${node.name.value}") is disabled on this server.`;
  return [documentError(message, node, 'forbidden')];
}
