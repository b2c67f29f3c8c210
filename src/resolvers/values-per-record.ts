import { getNamedType, isCompositeType, isListType, isObjectType, getNullableType, Kind } from 'graphql';
import type {
  FieldNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLResolveInfo,
  InlineFragmentNode,
  FragmentDefinitionNode,
  SelectionSetNode,
} from 'graphql';

type Operation = Pick<GraphQLResolveInfo, 'schema' | 'fragments'>;

interface Known {
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
const known = new WeakMap<FieldNode, Known>();

/**
 * Returns the number of values in the response for each record or group of the list that is being resolved. Includes
 * single related records, but not lists of records, which are counted when they are resolved. Fields that `@skip` or
 * `@include` exclude are counted as well.
 */
export function valuesPerRecord({ fieldNodes, returnType, ...operation }: GraphQLResolveInfo): number {
  const [first] = fieldNodes;
  const found = first && known.get(first);
  if (found && isSame(found.nodes, fieldNodes)) return found.width;
  const type = getNamedType(returnType);
  const width = fieldNodes.reduce((sum, { selectionSet }) => sum + setWidth(selectionSet, type, operation), 0);
  if (first) known.set(first, { nodes: fieldNodes, width });
  return width;
}

const isSame = (nodes: readonly FieldNode[], others: readonly FieldNode[]): boolean =>
  nodes.length === others.length && nodes.every((node, index) => node === others[index]);

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
