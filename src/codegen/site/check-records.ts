import { isObjectType, Kind } from 'graphql';
import type { ASTNode, DefinitionNode, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { checkFields, checkInnerFields } from './check-fields.js';
import { checkSources } from './check-sources.js';
import { readDirectives } from './field-directives.js';
import type { MistakeList } from './mistakes.js';
import { allName, singleName } from './names.js';
import { isRecordType, recordTypes, shapeOf } from './sdl-types.js';

/** What the store keeps for itself beside the columns of a kind. */
const RESERVED_COLUMNS = ['position'];

/** The rules that make a type a kind of record. */
export function checkRecords(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  mistakes: MistakeList,
): void {
  const kinds = recordTypes(schema, definitions);
  checkNodes(schema, definitions, mistakes);
  checkSources(definitions, mistakes);
  checkKindNames(kinds, mistakes);
  const inner = new Set<GraphQLObjectType>();
  for (const kind of kinds) {
    checkFields(kind, mistakes);
    checkColumns(kind, mistakes);
    for (const field of Object.values(kind.getFields())) gatherInner(shapeOf(field).type, [], inner, mistakes);
  }
  for (const type of inner) checkInnerFields(type, mistakes);
}

/** Every kind implements Node, and nothing else does. */
function checkNodes(schema: GraphQLSchema, definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  for (const definition of definitions) {
    const type = definition.kind === Kind.OBJECT_TYPE_DEFINITION ? schema.getType(definition.name.value) : undefined;
    if (!isObjectType(type)) continue;
    const isNode = type.getInterfaces().some(({ name }) => name === 'Node');
    if (isRecordType(type) && !isNode)
      mistakes.add(definition, `Expected "type ${type.name} implements Node", as @record asks.`);
    if (!isRecordType(type) && isNode)
      mistakes.add(definition, `Expected @record on ${type.name}, for it implements Node.`);
  }
}

function checkKindNames(kinds: readonly GraphQLObjectType[], mistakes: MistakeList): void {
  const taken = new Map<string, string>();
  for (const { name, astNode } of kinds) {
    const node = astNode as ASTNode;
    if (!/^[A-Z]/.test(name)) {
      mistakes.add(node, `Expected the name of a kind to begin with a capital; received "${name}".`);
    }
    const queries = [singleName(name), allName(name)];
    // Tables are named by kind, and SQL does not tell capitals from small letters.
    const clash = queries.find((query) => taken.has(query.toLowerCase()));
    if (clash !== undefined) {
      mistakes.add(
        node,
        `Expected a name whose query "${clash}" is free; ${taken.get(clash.toLowerCase()) ?? ''} has it.`,
      );
    }
    for (const query of queries) taken.set(query.toLowerCase(), name);
  }
}

function checkColumns(kind: GraphQLObjectType, mistakes: MistakeList): void {
  const taken = new Map(RESERVED_COLUMNS.map((name) => [name, 'the order of records']));
  for (const field of Object.values(kind.getFields())) {
    const { alias, computed } = readDirectives(field);
    if (alias !== undefined || computed !== undefined) continue;
    const column = field.name.toLowerCase();
    const other = taken.get(column);
    if (other !== undefined)
      mistakes.add(
        field.astNode as ASTNode,
        `Expected a name that differs by more than capitals; "${field.name}" is taken by ${other}.`,
      );
    taken.set(column, `${kind.name}.${field.name}`);
  }
}

/** The objects within a record; one that contains itself has no end of columns. */
function gatherInner(
  type: unknown,
  above: readonly GraphQLObjectType[],
  inner: Set<GraphQLObjectType>,
  mistakes: MistakeList,
): void {
  if (!isObjectType(type) || isRecordType(type)) return;
  if (above.includes(type)) {
    mistakes.add(type.astNode as ASTNode, `Expected an object that ends; ${type.name} contains itself.`);
    return;
  }
  if (inner.has(type)) return;
  inner.add(type);
  for (const field of Object.values(type.getFields())) {
    gatherInner(shapeOf(field).type, [...above, type], inner, mistakes);
  }
}
