import type { ObjectField, RecordField, ScalarField } from '@trellis/core/record-types';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  type InlineFragmentNode,
  isAbstractType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type {
  ComputedValues,
  RecordSelection,
  SelectedColumn,
  SelectedRelation,
  SelectedValue,
} from '../query/record-queries.js';
import { hasNulls, type RecordTables } from '../records/record-schema.js';
import type { RecordContext, ResolverBudget } from './context.js';

/** The data of a site's schema that resolvers find through the schema of their request. */
export interface SchemaBinding {
  readonly tables: RecordTables;
  /** Returns the values of computed fields for the filters, sorts and groups of one request. */
  readonly computedFor: (context: RecordContext) => ComputedValues;
}

const EXTENSION = 'trellisSite';

export function bind(schema: GraphQLSchema, binding: SchemaBinding): void {
  schema.extensions = { ...schema.extensions, [EXTENSION]: binding };
}

export const getBinding = (schema: GraphQLSchema): SchemaBinding => schema.extensions[EXTENSION] as SchemaBinding;

/** The document of a request and its variables. */
type Operation = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** The path from a field to the records, if the field itself returns them. */
export const RECORD = [[]];

/** The paths from a connection to its records. */
export const CONNECTION = [
  ['nodes'],
  ['edges', 'node'],
  ['edges', 'next'],
  ['edges', 'previous'],
  ['group', 'nodes'],
  ['group', 'edges', 'node'],
  ['group', 'edges', 'next'],
  ['group', 'edges', 'previous'],
];

interface Known {
  readonly nodes: readonly FieldNode[];
  readonly selection: RecordSelection;
}

/**
 * The selections by AST node and record type. The server caches parsed documents, so a repeated query has the same nodes.
 */
const known = new WeakMap<FieldNode, Map<string, Known>>();

/**
 * Returns the columns and relations that a query selects of records.
 *
 * @param below The paths from the field that is being resolved to the records.
 */
export function getSelection(
  kind: string,
  below: readonly (readonly string[])[],
  info: Operation & Pick<GraphQLResolveInfo, 'fieldNodes'>,
): RecordSelection {
  const { fieldNodes } = info;
  const [first] = fieldNodes;
  const found = first && known.get(first)?.get(kind);
  if (found && isSame(found.nodes, fieldNodes)) return found.selection;
  const walk = new Walk(info);
  const nodes = below.flatMap((path) => walk.follow(fieldNodes, path));
  const selection = walk.select(nodes, kind);
  if (first && !isConditional(fieldNodes, info.fragments)) {
    const byKind = known.get(first) ?? new Map<string, Known>();
    known.set(first, byKind.set(kind, { nodes: fieldNodes, selection }));
  }
  return selection;
}

const isSame = (nodes: readonly FieldNode[], others: readonly FieldNode[]): boolean =>
  nodes.length === others.length && nodes.every((node, index) => node === others[index]);

/** Returns whether any selection has a directive, so that the same document may select different fields next time. */
function isConditional(
  nodes: readonly SelectionNode[],
  fragments: Operation['fragments'],
  seen = new Set<string>(),
): boolean {
  return nodes.some((node) => {
    if (node.directives?.length) return true;
    if (node.kind !== Kind.FRAGMENT_SPREAD) return isConditional(node.selectionSet?.selections ?? [], fragments, seen);
    const name = node.name.value;
    if (seen.has(name)) return false;
    seen.add(name);
    return isConditional(fragments[name]?.selectionSet.selections ?? [], fragments, seen);
  });
}

class Walk {
  readonly #operation: Operation;
  readonly #tables: RecordTables;

  constructor(operation: Operation) {
    this.#operation = operation;
    this.#tables = getBinding(operation.schema).tables;
  }

  /** Returns the field nodes at the end of a path of names, including those in fragments. */
  follow(nodes: readonly FieldNode[], path: readonly string[]): readonly FieldNode[] {
    return path.reduce<readonly FieldNode[]>(
      (at, name) => this.#fieldsBelow(at).filter((node) => node.name.value === name),
      nodes,
    );
  }

  select(nodes: readonly FieldNode[], kind: string): RecordSelection {
    const values = new Map<string, SelectedValue>();
    const relations: SelectedRelation[] = [];
    for (const [name, same] of byName(this.#fieldsBelow(nodes, kind))) {
      const field = this.#tables[kind]?.fields.find((one) => one.name === name);
      if (field?.kind === 'relation') relations.push({ field, select: once((target) => this.select(same, target)) });
      else if (field) for (const value of this.#values(field, same, kind)) values.set(value.name, value);
    }
    return { values: [...values.values()], relations };
  }

  #values(field: RecordField, nodes: readonly FieldNode[], kind: string): SelectedValue[] {
    if (field.kind === 'scalar')
      return [{ kind: 'column', name: field.name, column: field.column, holds: contentOf(field) }];
    if (field.kind === 'object') return [this.#object(field, nodes, kind)];
    if (field.kind === 'computed') return ['id', ...field.needs].map(toSelectedColumn);
    return [];
  }

  #object(field: ObjectField, nodes: readonly FieldNode[], kind: string): SelectedValue {
    if (field.list) return { kind: 'column', name: field.name, column: field.path, holds: 'json' };
    const names = byName(this.#fieldsBelow(nodes));
    const values = field.fields.flatMap((inner) => {
      const same = names.get(inner.name);
      return same ? this.#values(inner, same, kind) : [];
    });
    const presence = field.nullable ? columnsOf(field) : [];
    const table = this.#tables[kind];
    const emptyPath = field.nullable && table && hasNulls(table) ? field.path : undefined;
    return { kind: 'object', name: field.name, values, presence, emptyPath };
  }

  #fieldsBelow(nodes: readonly FieldNode[], kind?: string): FieldNode[] {
    return nodes.flatMap(({ selectionSet }) => this.#fieldsOf(selectionSet, kind));
  }

  #fieldsOf(set: SelectionSetNode | undefined, kind: string | undefined): FieldNode[] {
    return (set?.selections ?? [])
      .filter((node) => this.#isIncluded(node))
      .flatMap((node) => {
        if (node.kind === Kind.FIELD) return [node];
        const fragment = node.kind === Kind.FRAGMENT_SPREAD ? this.#operation.fragments[node.name.value] : node;
        const condition = fragment?.typeCondition?.name.value;
        return fragment && this.#applies(condition, kind) ? this.#fieldsOf(fragment.selectionSet, kind) : [];
      });
  }

  #applies(condition: string | undefined, kind: string | undefined): boolean {
    if (condition === undefined || kind === undefined || condition === kind) return true;
    const { schema } = this.#operation;
    const [abstract, concrete] = [schema.getType(condition), schema.getType(kind)];
    return isAbstractType(abstract) && schema.getPossibleTypes(abstract).some((type) => type === concrete);
  }

  #isIncluded(node: SelectionNode): boolean {
    if (!node.directives?.length) return true;
    const { variableValues } = this.#operation;
    const skip = getDirectiveValues(GraphQLSkipDirective, node, variableValues);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, variableValues);
    return skip?.if !== true && include?.if !== false;
  }
}

/** Selects a column in its stored form, under its own name. */
export const toSelectedColumn = (column: string): SelectedColumn => ({
  kind: 'column',
  name: column,
  column,
  holds: 'value',
});

function contentOf({ list, type }: ScalarField): 'json' | 'boolean' | 'float' | 'value' {
  if (list) return 'json';
  if (type === 'Float') return 'float';
  return type === 'Boolean' ? 'boolean' : 'value';
}

/** Returns the columns of an object. If all are null, so is the object. */
function columnsOf(field: RecordField): string[] {
  if (field.kind === 'scalar') return [field.column];
  if (field.kind !== 'object') return [];
  return field.list ? [field.path] : field.fields.flatMap(columnsOf);
}

function byName(nodes: readonly FieldNode[]): ReadonlyMap<string, FieldNode[]> {
  const names = new Map<string, FieldNode[]>();
  for (const node of nodes) names.set(node.name.value, [...(names.get(node.name.value) ?? []), node]);
  return names;
}

function once(select: (kind: string) => RecordSelection): (kind: string) => RecordSelection {
  const selections = new Map<string, RecordSelection>();
  return (kind) => {
    const selection = selections.get(kind) ?? select(kind);
    selections.set(kind, selection);
    return selection;
  };
}

interface KnownWidth {
  readonly nodes: readonly FieldNode[];
  readonly width: number;
}

/** Computing or formatting a value takes about ten times as long as copying one. */
const COMPUTED_VALUE = 10;

/** An object or a list of objects takes about three times as long as a scalar. */
const OBJECT = 3;

/** Long aliases and arguments count as further values, as they cost space or time for every record. */
const CHARACTERS_PER_VALUE = 40;

/** The widths by AST node. The server caches parsed documents, so a repeated query has the same nodes. */
const knownWidths = new WeakMap<FieldNode, KnownWidth>();

/**
 * Returns the number of values in the response for each record or group of the list that is being resolved. Includes
 * single related records, but not lists of records, which are counted when they are resolved. Fields that `@skip` or
 * `@include` exclude are counted as well.
 */
export function valuesPerRecord({
  fieldNodes,
  returnType,
  ...operation
}: Operation & Pick<GraphQLResolveInfo, 'fieldNodes' | 'returnType'>): number {
  const [first] = fieldNodes;
  const found = first && knownWidths.get(first);
  if (found && isSame(found.nodes, fieldNodes)) return found.width;
  const type = getNamedType(returnType);
  const width = fieldNodes.reduce((sum, { selectionSet }) => sum + setWidth(selectionSet, type, operation), 0);
  if (first) knownWidths.set(first, { nodes: fieldNodes, width });
  return width;
}

/** Returns the width of a selection set. A record has one type, so only the widest of the fragments on types counts. */
function setWidth(set: SelectionSetNode | undefined, type: GraphQLNamedType, operation: Operation): number {
  let own = 0;
  const byType = new Map<string, number>();
  for (const node of set?.selections ?? []) {
    if (node.kind === Kind.FIELD) {
      own += fieldWidth(node, type, operation);
      continue;
    }
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? operation.fragments[node.name.value] : node;
    const inner = conditionOf(fragment, type, operation);
    const width = setWidth(fragment?.selectionSet, inner, operation);
    if (inner === type || !isObjectType(inner)) own += width;
    else byType.set(inner.name, (byType.get(inner.name) ?? 0) + width);
  }
  return own + Math.max(0, ...byType.values());
}

function conditionOf(
  fragment: InlineFragmentNode | FragmentDefinitionNode | undefined,
  type: GraphQLNamedType,
  { schema }: Operation,
): GraphQLNamedType {
  const name = fragment?.typeCondition?.name.value;
  return (name === undefined ? undefined : schema.getType(name)) ?? type;
}

function fieldWidth(node: FieldNode, type: GraphQLNamedType, operation: Operation): number {
  const field = 'getFields' in type ? (type.getFields()[node.name.value] as GraphQLField<unknown, unknown>) : undefined;
  const own = (node.selectionSet ? OBJECT : 1) + textWidth(node);
  if (!field) return own;
  if (isCountedSeparately(field)) return own;
  const computed = node.arguments?.length ? COMPUTED_VALUE : 0;
  return own + computed + setWidth(node.selectionSet, getNamedType(field.type), operation);
}

function textWidth({ alias, arguments: given = [] }: FieldNode): number {
  const characters = given.reduce((sum, { loc }) => sum + (loc ? loc.end - loc.start : 0), alias?.value.length ?? 0);
  return Math.floor(characters / CHARACTERS_PER_VALUE);
}

const isCountedSeparately = ({ type, resolve }: GraphQLField<unknown, unknown>): boolean =>
  resolve !== undefined && isListType(getNullableType(type)) && isCompositeType(getNamedType(type));

/** Counts the values of a list in the response, then returns the list. Throws when the limit is exceeded. */
export function spend<T>(list: readonly T[], width: number, budget: ResolverBudget): readonly T[] {
  budget.spend(list.length * width);
  return list;
}
