/** Functions that inspect the types and fields of a schema that was built from SDL. */
import { isLeafType, isListType, isNonNullType, isObjectType, Kind } from 'graphql';
import type {
  ASTNode,
  DefinitionNode,
  GraphQLField,
  GraphQLInterfaceType,
  GraphQLNamedOutputType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql';
import { isRecordDefinition } from './add-node-fields.js';
import { readDirectives } from './field-directives.js';

export type SdlField = GraphQLField<unknown, unknown>;
export type SdlFields = GraphQLInterfaceType | GraphQLObjectType;

/** The parts of a field's type. `nested` is true for a list of lists. */
export interface FieldShape {
  readonly nullable: boolean;
  readonly list: boolean;
  readonly nested: boolean;
  readonly type: GraphQLNamedOutputType;
}

export function getFieldShape({ type }: Pick<SdlField, 'type'>): FieldShape {
  const outer = withoutNonNull(type);
  const list = isListType(outer);
  const item = list ? withoutNonNull(outer.ofType as GraphQLOutputType) : outer;
  const nested = isListType(item);
  return { nullable: !isNonNullType(type), list, nested, type: innermost(item) };
}

const withoutNonNull = (type: GraphQLOutputType): GraphQLOutputType => (isNonNullType(type) ? type.ofType : type);

const innermost = (type: GraphQLOutputType): GraphQLNamedOutputType =>
  isListType(type) || isNonNullType(type) ? innermost(type.ofType as GraphQLOutputType) : type;

// Types that are built from SDL have AST nodes; only the built-in types of graphql-js lack them.
export const getAstNode = (field: SdlField): ASTNode => field.astNode as ASTNode;
export const getTypeNode = (field: SdlField): ASTNode => field.astNode?.type as ASTNode;

/** Returns whether a type is a record type. */
export const isRecordType = (type: unknown): boolean =>
  isObjectType(type) && type.astNode != null && isRecordDefinition(type.astNode);

/** Lists the record types in the order of the documents. */
export const listRecordTypes = (schema: GraphQLSchema, definitions: readonly DefinitionNode[]): GraphQLObjectType[] =>
  definitions
    .filter((definition) => definition.kind === Kind.OBJECT_TYPE_DEFINITION)
    .map((definition) => schema.getType(definition.name.value))
    .filter((type) => isObjectType(type))
    .filter(isRecordType);

/** Returns the field at a path such as `internal.mediaType` if it has a column of its own, as lists do. */
export function findStored(type: SdlFields, path: string): SdlField | undefined {
  const [name = '', ...rest] = path.split('.');
  const field = type.getFields()[name];
  if (field === undefined) return undefined;
  const { alias, computed } = readDirectives(field);
  const shape = getFieldShape(field);
  if (alias !== undefined || computed !== undefined) return undefined;
  if (rest.length === 0) return isLeafType(shape.type) || (isObjectType(shape.type) && shape.list) ? field : undefined;
  return isObjectType(shape.type) && !isRecordType(shape.type) && !shape.list
    ? findStored(shape.type, rest.join('.'))
    : undefined;
}
