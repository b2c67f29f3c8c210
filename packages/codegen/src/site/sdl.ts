/** Functions that inspect SDL: its types and fields, directives, derived names, and positions for errors. */
import type { RecordField, RecordTable } from '@trellis/core/record-types';
import {
  type ASTNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type ObjectTypeDefinitionNode,
  type StringValueNode,
} from 'graphql';
import { type Diagnostic, type Location, throwDiagnostics } from '../documents.js';

export type SdlField = GraphQLField<unknown, unknown>;
export type SdlFields = GraphQLInterfaceType | GraphQLObjectType;

/** The parts of a field's type. `nested` is true for a list of lists. */
interface FieldShape {
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

/** Returns whether a definition is that of a record type. */
export const isRecordDefinition = (node: DefinitionNode): node is ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION && (node.directives ?? []).some(({ name }) => name.value === 'record');

/** Returns whether a definition is that of an object type or an interface that implements Node. */
export const isNodeDefinition = (
  node: DefinitionNode,
): node is InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode =>
  (node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION) &&
  (node.interfaces ?? []).some(({ name }) => name.value === 'Node');

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
  const { alias, computed, markdown } = readDirectives(field);
  const shape = getFieldShape(field);
  if (alias !== undefined || computed !== undefined || markdown !== undefined) return undefined;
  if (rest.length === 0) return isLeafType(shape.type) || (isObjectType(shape.type) && shape.list) ? field : undefined;
  return isObjectType(shape.type) && !isRecordType(shape.type) && !shape.list
    ? findStored(shape.type, rest.join('.'))
    : undefined;
}

export interface LinkEnds {
  readonly from: string | undefined;
  readonly to: string;
}

/** The ends of a back reference: the field of the linked type that refers to this one, and the value that it has. */
export interface BackReference {
  readonly by: string;
  readonly from: string | undefined;
}

/** The directives that determine the origin of a field's value, at most one per field. Other fields are stored. */
export const SOURCES = ['alias', 'child', 'computed', 'link', 'markdown', 'slug'] as const;

/** The directives of one field. */
interface FieldDirectives {
  readonly alias?: string;
  readonly child: boolean;
  readonly computed?: { readonly needs: readonly string[] };
  readonly dateformat: boolean;
  readonly index: boolean;
  /** Without `from`, the field has a column of its own for the keys. */
  readonly link?: LinkEnds;
  readonly back?: BackReference;
  /** The name of the text field that is rendered. */
  readonly markdown?: string;
  /** The weight of the field in the full-text index. */
  readonly searchWeight?: number;
  readonly slug: boolean;
}

/** An element with directives: a field or a type definition. */
interface Marked {
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] } | null;
}

export const findDirective = ({ astNode }: Marked, name: string): ConstDirectiveNode | undefined =>
  astNode?.directives?.find((directive) => directive.name.value === name);

/** Reads the directives of a field. Arguments of a wrong type count as empty, as `checkValues` reports them. */
export function readDirectives(field: Pick<GraphQLField<unknown, unknown>, 'astNode'>): FieldDirectives {
  const has = (name: string): boolean => findDirective(field, name) !== undefined;
  const text = (name: string, argument: string): string | undefined => texts(findDirective(field, name), argument)[0];
  return {
    ...(has('alias') && { alias: text('alias', 'of') ?? '' }),
    child: has('child'),
    ...(has('computed') && { computed: { needs: texts(findDirective(field, 'computed'), 'needs') } }),
    dateformat: has('dateformat'),
    index: has('index'),
    ...(has('markdown') && { markdown: text('markdown', 'of') ?? 'body' }),
    ...(has('search') && { searchWeight: findNumber(findDirective(field, 'search'), 'weight') ?? 1 }),
    slug: has('slug'),
    ...readLink(text('link', 'by'), has('link') && { from: text('link', 'from'), to: text('link', 'to') ?? 'id' }),
  };
}

function readLink(by: string | undefined, link: LinkEnds | false): Pick<FieldDirectives, 'back' | 'link'> {
  if (link === false) return {};
  return by === undefined ? { link } : { back: { by, from: link.from } };
}

/** Returns the field with the paths of linked files, which is `from` unless `to` is set. Only files have a folder. */
export function findPathField(kind: SdlFields, field: SdlField): string | undefined {
  const { type } = getFieldShape(field);
  const isPath = (type.name === 'File' || type.name === 'Directory') && findDirective(kind, 'source') !== undefined;
  const hasTo = findDirective(field, 'link')?.arguments?.some(({ name }) => name.value === 'to');
  return isPath && hasTo === false ? readDirectives(field).link?.from : undefined;
}

/** Returns the column with the keys of a link. */
export const linkColumn = (kind: SdlFields, field: SdlField, { from }: LinkEnds): string =>
  from === undefined || findPathField(kind, field) !== undefined ? field.name : from;

const texts = (directive: ConstDirectiveNode | undefined, argument: string): string[] =>
  findTexts(directive, argument).map(({ value }) => value);

/** Returns the texts in an argument, which is a single text or a list. */
export function findTexts(directive: ConstDirectiveNode | undefined, argument: string): readonly StringValueNode[] {
  const value = directive?.arguments?.find(({ name }) => name.value === argument)?.value;
  return (value?.kind === Kind.LIST ? value.values : [value]).filter(isText);
}

function findNumber(directive: ConstDirectiveNode | undefined, argument: string): number | undefined {
  const value = directive?.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.INT || value?.kind === Kind.FLOAT ? Number(value.value) : undefined;
}

const isText = (value: ConstValueNode | undefined): value is StringValueNode => value?.kind === Kind.STRING;

/** The filter inputs of scalar types. They and the names below are derived, and reserved in the documents. */
export const OPERATOR_INPUTS = {
  Boolean: 'BooleanQueryOperatorInput',
  Date: 'DateQueryOperatorInput',
  Float: 'FloatQueryOperatorInput',
  // The original server filters ids as text.
  ID: 'StringQueryOperatorInput',
  Int: 'IntQueryOperatorInput',
  String: 'StringQueryOperatorInput',
} as const;

/** Returns the name of the filter input of an enum, or of a scalar of the application. */
export const operatorInputName = (type: string): string => `${type}QueryOperatorInput`;

/** The scalars that can store the values of a scalar of the application (`@stored`). */
export const STORED_SCALARS = ['Float', 'Int', 'String'] as const;

/** Returns the name of the scalar that stores the values of a scalar of the application, if it has one. */
export const findStoredScalar = (type: Marked): string | undefined =>
  findTexts(findDirective(type, 'stored'), 'as')[0]?.value;

/** The directives of the generator, which the published schema does not have. */
export const GENERATOR_DIRECTIVES: readonly string[] = [
  ...['alias', 'child', 'computed', 'dateformat', 'index', 'link', 'markdown', 'record', 'search', 'slug', 'source'],
  'stored',
];

export const SORT_ORDER = 'SortOrderEnum';
export const GROUP_SORT = 'GroupSortInput';
export const GROUP_SORT_KEY = 'GroupSortKey';

/** The names of queries: `file` and `allFile` for the record type `File`. */
export const singleQueryName = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);
export const allQueryName = (kind: string): string => `all${kind}`;

/**
 * Returns the TypeScript name of a GraphQL type, field or operation: the same name with a capital letter, also after each
 * underscore, as GraphQL Code Generator applies a naming convention to the parts between underscores.
 */
export const toTypeName = (name: string): string =>
  name
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('_');

const OF_OBJECTS = { FilterInput: 'input', FilterListInput: 'input' } as const;
const OF_RECORDS = {
  ...{ Connection: 'type', Edge: 'type', GroupConnection: 'type' },
  ...{ FieldsEnum: 'enum', SortInput: 'input' },
} as const;

const OF_ALL = {
  [SORT_ORDER]: 'enum',
  [GROUP_SORT]: 'input',
  [GROUP_SORT_KEY]: 'enum',
  SiteChange: 'type',
  Subscription: 'type',
} as const;

/** The names of derived types, with their definition keywords. */
export type DerivedNames = ReadonlyMap<string, 'enum' | 'input' | 'type'>;

/** Returns the name of every type that may be derived from the documents. */
export function listDerivedNames(definitions: readonly DefinitionNode[]): DerivedNames {
  const operators = Object.values(OPERATOR_INPUTS).map((name) => [name, 'input'] as const);
  const ofTypes = definitions.flatMap((definition): (readonly [string, 'enum' | 'input' | 'type'])[] => {
    if (isLeafDefinition(definition)) return [[operatorInputName(definition.name.value), 'input']];
    return hasFilter(definition) ? [...listDerivedNamesOfType(definition)] : [];
  });
  return new Map([...Object.entries(OF_ALL), ...operators, ...ofTypes]);
}

const isLeafDefinition = (node: DefinitionNode) =>
  node.kind === Kind.ENUM_TYPE_DEFINITION || node.kind === Kind.SCALAR_TYPE_DEFINITION;

/** Returns whether types are derived from a definition: at least a filter. */
export const hasFilter = (node: DefinitionNode): node is InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;

/** Returns the names of the types that may be derived from one type. */
export function listDerivedNamesOfType(
  definition: InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode,
): DerivedNames {
  const endings = isRecordDefinition(definition) ? { ...OF_OBJECTS, ...OF_RECORDS } : OF_OBJECTS;
  return new Map(Object.entries(endings).map(([ending, kind]) => [definition.name.value + ending, kind]));
}

/** Returns the position to report for a node. For a definition this is its name, not its description. */
export function locateAstNode(node: ASTNode): Location {
  const { loc } = node.kind !== Kind.DIRECTIVE && 'name' in node && node.name !== undefined ? node.name : node;
  // Only derived nodes have no location, and no error refers to derived nodes alone.
  if (loc === undefined) return { file: 'schema', line: 1, column: 1 };
  return { file: loc.source.name, line: loc.startToken.line, column: loc.startToken.column };
}

export const withHint = (message: string, hint: string | undefined): string =>
  hint === undefined ? message : `${message} ${hint}`;

/** Collects the errors of a contract, so that one run reports all of them. */
export class DiagnosticList {
  readonly #diagnostics: Diagnostic[] = [];

  add(node: ASTNode, message: string): void {
    this.addAt(locateAstNode(node), message);
  }

  addAt(location: Location, message: string): void {
    this.#diagnostics.push({ ...location, message });
  }

  /**
   * Adds an error of graphql-js, at the last node with a location: the one that breaks the rule.
   *
   * @param hint A sentence that is added to the message.
   */
  addError(error: GraphQLError, hint?: string): void {
    const node = error.nodes?.findLast(({ loc }) => loc !== undefined);
    const message = withHint(error.message, hint);
    if (node !== undefined) {
      this.add(node, message);
      return;
    }
    const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 };
    this.addAt({ file: error.source?.name ?? 'schema', line, column }, message);
  }

  /** @throws ContractError with all errors, in the order of the documents. */
  throwIfAny(): void {
    throwDiagnostics(this.#diagnostics);
  }
}

/** The hand-written part of the contract, which has passed all checks. */
export interface SiteContract {
  /** In the order of the documents. Record types include the fields of Node. */
  readonly definitions: readonly DefinitionNode[];
  /** The hand-written types, with placeholders for derived types. */
  readonly schema: GraphQLSchema;
  /** One table for each record type, in the order of the documents. */
  readonly tables: readonly RecordTable[];
  /** The fields that every record has. */
  readonly nodeFields: readonly RecordField[];
}
