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

type Asked = Pick<GraphQLResolveInfo, 'schema' | 'fragments'>;

interface Known {
  readonly nodes: readonly FieldNode[];
  readonly width: number;
}

/** Formatting and making values takes some ten times as long as copying them. */
const MADE_VALUE = 10;

/** An object, or a list of them, takes some three times as long as a text or a number. */
const OBJECT = 3;

/** A long name, or a long argument, is repeated in each record, or in the time that each takes. */
const CHARACTERS_PER_VALUE = 40;

/** Parsed documents are kept by the server, so that a repeated query finds its widths here. */
const known = new WeakMap<FieldNode, Known>();

/**
 * How many values the answer holds for each record, or group, of the list
 * being resolved: those of related records too, but not of lists of records,
 * which count for themselves. What variables leave out counts as well.
 */
export function widthOf({ fieldNodes, returnType, ...asked }: GraphQLResolveInfo): number {
  const [first] = fieldNodes;
  const found = first && known.get(first);
  if (found && isSame(found.nodes, fieldNodes)) return found.width;
  const type = getNamedType(returnType);
  const width = fieldNodes.reduce((sum, { selectionSet }) => sum + setWidth(selectionSet, type, asked), 0);
  if (first) known.set(first, { nodes: fieldNodes, width });
  return width;
}

const isSame = (nodes: readonly FieldNode[], others: readonly FieldNode[]): boolean =>
  nodes.length === others.length && nodes.every((node, index) => node === others[index]);

/** Of fragments for several kinds, each record is one of these only: the widest counts. */
function setWidth(set: SelectionSetNode | undefined, type: GraphQLNamedType, asked: Asked): number {
  let own = 0;
  const ofKinds = new Map<string, number>();
  for (const node of set?.selections ?? []) {
    if (node.kind === Kind.FIELD) {
      own += fieldWidth(node, type, asked);
      continue;
    }
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? asked.fragments[node.name.value] : node;
    const inner = conditionOf(fragment, type, asked);
    const width = setWidth(fragment?.selectionSet, inner, asked);
    if (inner === type || !isObjectType(inner)) own += width;
    else ofKinds.set(inner.name, (ofKinds.get(inner.name) ?? 0) + width);
  }
  return own + Math.max(0, ...ofKinds.values());
}

function conditionOf(
  fragment: InlineFragmentNode | FragmentDefinitionNode | undefined,
  type: GraphQLNamedType,
  { schema }: Asked,
): GraphQLNamedType {
  const name = fragment?.typeCondition?.name.value;
  return (name === undefined ? undefined : schema.getType(name)) ?? type;
}

function fieldWidth(node: FieldNode, type: GraphQLNamedType, asked: Asked): number {
  const field = 'getFields' in type ? (type.getFields()[node.name.value] as GraphQLField<unknown, unknown>) : undefined;
  const own = (node.selectionSet ? OBJECT : 1) + textWidth(node);
  if (!field) return own;
  if (isCountedItself(field)) return own;
  const made = node.arguments?.length ? MADE_VALUE : 0;
  return own + made + setWidth(node.selectionSet, getNamedType(field.type), asked);
}

function textWidth({ alias, arguments: given = [] }: FieldNode): number {
  const characters = given.reduce((sum, { loc }) => sum + (loc ? loc.end - loc.start : 0), alias?.value.length ?? 0);
  return Math.floor(characters / CHARACTERS_PER_VALUE);
}

const isCountedItself = ({ type, resolve }: GraphQLField<unknown, unknown>): boolean =>
  resolve !== undefined && isListType(getNullableType(type)) && isCompositeType(getNamedType(type));
