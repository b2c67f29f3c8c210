import { AppError } from '@trellis/core/errors';
import { describeQueryError } from '@trellis/core/gatsby-hints';
import type { FieldName } from '@trellis/images/plan/field-results';
import type { StoredQuery } from '@trellis/site/graphql/stored-queries';
import {
  type DocumentNode,
  getArgumentValues,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The fields that derive images, each with the field that it is an alias of. */
const IMAGE_FIELDS: Readonly<Record<string, FieldName>> = {
  fixed: 'fixed',
  fluid: 'fluid',
  resize: 'resize',
  resolutions: 'fixed',
  sizes: 'fluid',
};

/** Restricts the arguments of image fields. */
export interface ImagePolicy {
  /** @throws AppError `forbidden` for arguments that are not allowed. */
  assertAllowed(field: FieldName, args: object): void;
}

export const ALLOW_ALL: ImagePolicy = { assertAllowed: () => undefined };

/**
 * Allows the image arguments that stored queries use with any of their sets of variables, for every image of the site.
 *
 * @throws AppError `invalid_input` that names the file and the position of an error in a stored query.
 */
export function allowStoredArguments(schema: GraphQLSchema, queries: readonly StoredQuery[]): ImagePolicy {
  const allowed = new Set(queries.flatMap((query) => listImageArguments(schema, query)));
  /** Allowed arguments by identity: all records of a list share one object, which is compared once. */
  const known = new WeakSet<object>();
  return {
    assertAllowed(field, args) {
      if (known.has(args)) return;
      if (!allowed.has(keyOf(field, args))) throw notStored(field);
      known.add(args);
    },
  };
}

const keyOf = (field: FieldName, args: object): string => `${field} ${JSON.stringify(args)}`;

function notStored(field: FieldName): AppError {
  const message = `No stored query of this site uses these arguments of "${field}", and the site configuration has "images.recipes: stored".`;
  return new AppError('forbidden', `${message} Add a stored query with them, or use the arguments of an existing one.`);
}

function listImageArguments(schema: GraphQLSchema, query: StoredQuery): string[] {
  const document = parseStoredQuery(schema, query);
  const { variableDefinitions = [] } = getOperation(document);
  return query.variables.flatMap((inputs) => {
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, inputs);
    if (coerced === undefined) throw invalidQuery(query.file, errors[0]);
    return listArguments(schema, document, coerced);
  });
}

function listArguments(schema: GraphQLSchema, document: DocumentNode, variables: Record<string, unknown>): string[] {
  const keys: string[] = [];
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const field = types.getParentType()?.name === 'ImageProc' ? IMAGE_FIELDS[node.name.value] : undefined;
        const definition = types.getFieldDef();
        if (field && definition) keys.push(keyOf(field, getArgumentValues(definition, node, variables)));
      },
    }),
  );
  return keys;
}

/**
 * Parses a stored query, which must have exactly one operation and be valid for the schema.
 *
 * @throws AppError `invalid_input` that names the file and, if known, the position of the error.
 */
export function parseStoredQuery(schema: GraphQLSchema, { file, text }: StoredQuery): DocumentNode {
  const document = parseText(file, text);
  if (document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length !== 1) {
    throw new AppError(
      'invalid_input',
      `${file} must contain exactly one operation. Put each operation in its own file.`,
    );
  }
  const [error] = validate(schema, document);
  if (error) throw invalidQuery(file, error);
  return document;
}

function parseText(file: string, text: string): DocumentNode {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof GraphQLError ? invalidQuery(file, error) : error;
  }
}

function invalidQuery(file: string, error: GraphQLError | undefined): AppError {
  const [at] = error?.locations ?? [];
  const place = at ? `:${at.line}:${at.column}` : '';
  const message = error ? describeQueryError(error) : 'invalid variables';
  return new AppError('invalid_input', `${file}${place}: ${message}`, { cause: error });
}

/** Returns the operation of a stored query. */
export function getOperation({ definitions }: DocumentNode): OperationDefinitionNode {
  return definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode;
}
