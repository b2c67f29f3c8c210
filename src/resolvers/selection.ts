import { getDirectiveValues, GraphQLIncludeDirective, GraphQLSkipDirective, isAbstractType, Kind } from 'graphql';
import type { FieldNode, GraphQLResolveInfo, SelectionNode, SelectionSetNode } from 'graphql';
import { records } from '../generated/site/records.js';
import type { RecordField, ObjectField, RecordTable, ScalarField } from '../core/record-types.js';
import type { SelectedRelation, SelectedValue, RecordSelection } from '../site/query/record-queries.js';

const tables: Readonly<Record<string, RecordTable>> = records;

/** The document of a request and its variables. */
type Operation = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

interface Known {
  readonly nodes: readonly FieldNode[];
  readonly selection: RecordSelection;
}

/** The selections by AST node. The server caches parsed documents, so a repeated query has the same nodes. */
const known = new WeakMap<FieldNode, Known>();

/**
 * Returns the columns and relations that a query selects of records.
 *
 * @param below The paths from the field that is being resolved to the records.
 */
export function getSelection(
  kind: string,
  below: readonly (readonly string[])[],
  info: GraphQLResolveInfo,
): RecordSelection {
  const { fieldNodes } = info;
  const [first] = fieldNodes;
  const found = first && known.get(first);
  if (found && isSame(found.nodes, fieldNodes)) return found.selection;
  const walk = new Walk(info);
  const nodes = below.flatMap((path) => walk.follow(fieldNodes, path));
  const selection = walk.select(nodes, kind);
  if (first && !isConditional(fieldNodes, info.fragments)) known.set(first, { nodes: fieldNodes, selection });
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

  constructor(operation: Operation) {
    this.#operation = operation;
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
      const field = tables[kind]?.fields.find((one) => one.name === name);
      if (field?.kind === 'relation') relations.push({ field, select: once((target) => this.select(same, target)) });
      else if (field) for (const value of this.#values(field, same)) values.set(value.name, value);
    }
    return { values: [...values.values()], relations };
  }

  #values(field: RecordField, nodes: readonly FieldNode[]): SelectedValue[] {
    if (field.kind === 'scalar')
      return [{ kind: 'column', name: field.name, column: field.column, holds: contentOf(field) }];
    if (field.kind === 'object') return [this.#object(field, nodes)];
    if (field.kind === 'computed')
      return ['id', ...field.needs].map((column) => ({ kind: 'column', name: column, column, holds: 'value' }));
    return [];
  }

  #object(field: ObjectField, nodes: readonly FieldNode[]): SelectedValue {
    if (field.list) return { kind: 'column', name: field.name, column: field.path, holds: 'json' };
    const names = byName(this.#fieldsBelow(nodes));
    const values = field.fields.flatMap((inner) => {
      const same = names.get(inner.name);
      return same ? this.#values(inner, same) : [];
    });
    return { kind: 'object', name: field.name, values, presence: field.nullable ? columnsOf(field) : [] };
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
