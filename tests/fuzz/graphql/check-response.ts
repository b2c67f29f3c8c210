/** Checks responses against the schema and the GraphQL-over-HTTP specification, using only graphql-js. */
import {
  getDirectiveValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  OperationTypeNode,
  parse,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  validate,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import type { GeneratedDocument } from './documents.js';

export const GRAPHQL_TYPE = 'application/graphql-response+json';

/** An executable request, with a valid document and valid variables. */
export interface Executable {
  readonly document: DocumentNode;
  readonly selectionSet: SelectionSetNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Returns `undefined` for a request that the specification rejects before execution. */
export function findExecutable(schema: GraphQLSchema, generated: GeneratedDocument): Executable | undefined {
  const { query, variables, operationName } = generated;
  let document: DocumentNode;
  try {
    document = parse(query);
  } catch {
    return undefined;
  }
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY || validate(schema, document).length > 0) return undefined;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], toJson(variables));
  return coerced && { document, selectionSet: operation.selectionSet, variables: coerced };
}

const toJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

interface FormattedError {
  readonly message?: unknown;
  readonly path?: unknown;
  readonly locations?: unknown;
  readonly extensions?: { readonly code?: unknown };
}

export interface GraphqlBody {
  readonly data?: unknown;
  readonly errors?: readonly FormattedError[];
}

/** Describes the first invalid member of a response; returns `undefined` for a valid one. */
export function findBodyProblem({ data, errors, ...others }: GraphqlBody): string | undefined {
  if (Object.keys(others).length > 0) return `unknown members ${Object.keys(others).join(', ')}`;
  if (errors === undefined) return data === undefined ? 'neither data nor errors' : undefined;
  if (!Array.isArray(errors) || errors.length === 0) return 'errors is not a list of errors';
  for (const { message, locations, path, extensions } of errors as readonly FormattedError[]) {
    if (typeof message !== 'string' || message === '') return 'an error without a message';
    if (locations !== undefined && !Array.isArray(locations)) return 'locations is not a list';
    if (path !== undefined && !Array.isArray(path)) return 'path is not a list';
    if (typeof extensions?.code !== 'string') return 'an error without a code';
    if (extensions.code === 'internal') return `an internal error: ${message}`;
  }
  return undefined;
}

/** Returns the first difference between the data and the selections and types of the query. */
export function findDataProblem(schema: GraphQLSchema, executable: Executable, data: unknown): string | undefined {
  return new DataCheck(schema, executable).check(data);
}

class DataCheck {
  readonly #schema: GraphQLSchema;
  readonly #executable: Executable;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(schema: GraphQLSchema, executable: Executable) {
    this.#schema = schema;
    this.#executable = executable;
    const definitions = executable.document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(definitions.map((one) => [one.name.value, one]));
  }

  check(data: unknown): string | undefined {
    return this.#object(this.#schema.getQueryType()!, [this.#executable.selectionSet], data);
  }

  #value(type: GraphQLOutputType, nodes: readonly FieldNode[], value: unknown): string | undefined {
    if (value === null) return isNonNullType(type) ? `null where ${String(type)} is promised` : undefined;
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      if (!Array.isArray(value)) return `no list where ${String(type)} is promised`;
      return first(value, (item) => this.#value(nullable.ofType, nodes, item));
    }
    const named = getNamedType(type);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (isObjectType(named)) return this.#object(named, sets, value);
    if (isAbstractType(named)) {
      const problems = this.#schema.getPossibleTypes(named).map((one) => this.#object(one, sets, value));
      return problems.includes(undefined) ? undefined : `of no type of ${named.name}: ${problems[0] ?? ''}`;
    }
    const isMember = isEnumType(named)
      ? named.getValues().some(({ name }) => name === value)
      : fitsScalar(named.name, value);
    return isMember ? undefined : `${JSON.stringify(value).slice(0, 100)} is no ${named.name}`;
  }

  #object(type: GraphQLObjectType, sets: readonly SelectionSetNode[], value: unknown): string | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return `no object of ${type.name}`;
    const fields = new Map<string, FieldNode[]>();
    for (const set of sets) this.#collect(type, set, fields);
    const [expected, received] = [[...fields.keys()].join(), Object.keys(value).join()];
    if (expected !== received) return `${type.name} with ${received} where ${expected} is selected`;
    return first([...fields], ([key, nodes]) => {
      const inner = (value as Record<string, unknown>)[key];
      const name = nodes[0]!.name.value;
      if (name === '__typename') return inner === type.name ? undefined : `__typename ${String(inner)}`;
      const problem = this.#value(this.#typeOf(type, name), nodes, inner);
      return problem && `${key}: ${problem}`;
    });
  }

  #typeOf(parent: GraphQLObjectType, name: string): GraphQLOutputType {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef.type;
    return name === TypeMetaFieldDef.name ? TypeMetaFieldDef.type : parent.getFields()[name]!.type;
  }

  #collect(type: GraphQLObjectType, { selections }: SelectionSetNode, fields: Map<string, FieldNode[]>): void {
    const { variables } = this.#executable;
    for (const node of selections) {
      if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) continue;
      if (getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false) continue;
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value;
        fields.set(key, [...(fields.get(key) ?? []), node]);
        continue;
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.#fragments.get(node.name.value)!;
      const condition = fragment.typeCondition?.name.value ?? type.name;
      if (this.#applies(condition, type)) this.#collect(type, fragment.selectionSet, fields);
    }
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    const named = this.#schema.getType(condition) as GraphQLCompositeType;
    return named === type || (isAbstractType(named) && this.#schema.isSubType(named, type));
  }
}

function first<T>(list: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const problem = find(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function fitsScalar(name: string, value: unknown): boolean {
  switch (name) {
    case 'Int':
      return Number.isSafeInteger(value);
    case 'Float':
      return Number.isFinite(value);
    case 'Boolean':
      return typeof value === 'boolean';
    default:
      return typeof value === 'string';
  }
}
