import { isObjectType, Kind } from 'graphql';
import type { ASTNode, DefinitionNode, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { checkFields, checkInnerFields } from './check-fields.js';
import { checkSources } from './check-sources.js';
import { readDirectives } from './field-directives.js';
import type { DiagnosticList } from './diagnostics.js';
import { allQueryName, singleQueryName } from './names.js';
import { isRecordType, listRecordTypes, getFieldShape } from './sdl-types.js';

/** Columns that the store adds to every record type. */
const RESERVED_COLUMNS = ['position'];

/** Checks the record types: their names, fields, columns and sources. */
export function checkRecords(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  diagnostics: DiagnosticList,
): void {
  const kinds = listRecordTypes(schema, definitions);
  checkNodes(schema, definitions, diagnostics);
  checkSources(definitions, diagnostics);
  checkKindNames(kinds, diagnostics);
  const inner = new Set<GraphQLObjectType>();
  for (const kind of kinds) {
    checkFields(kind, diagnostics);
    checkColumns(kind, diagnostics);
    for (const field of Object.values(kind.getFields())) gatherInner(getFieldShape(field).type, [], inner, diagnostics);
  }
  for (const type of inner) checkInnerFields(type, diagnostics);
}

/** Checks that record types implement Node and that other types do not. */
function checkNodes(schema: GraphQLSchema, definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    const type = definition.kind === Kind.OBJECT_TYPE_DEFINITION ? schema.getType(definition.name.value) : undefined;
    if (!isObjectType(type)) continue;
    const isNode = type.getInterfaces().some(({ name }) => name === 'Node');
    if (isRecordType(type) && !isNode)
      diagnostics.add(definition, `${type.name} is marked @record but does not implement Node.`);
    if (!isRecordType(type) && isNode) diagnostics.add(definition, `${type.name} implements Node but lacks @record.`);
  }
}

function checkKindNames(kinds: readonly GraphQLObjectType[], diagnostics: DiagnosticList): void {
  const taken = new Map<string, string>();
  for (const { name, astNode } of kinds) {
    const node = astNode as ASTNode;
    if (!/^[A-Z]/.test(name)) {
      diagnostics.add(node, `Expected the name of a record type to start with a capital letter; received "${name}".`);
    }
    const queries = [singleQueryName(name), allQueryName(name)];
    // Tables are named after record types, and names in SQL are case-insensitive.
    const clash = queries.find((query) => taken.has(query.toLowerCase()));
    if (clash !== undefined) {
      diagnostics.add(
        node,
        `The query "${clash}" conflicts with one of ${taken.get(clash.toLowerCase()) ?? ''}; case is ignored.`,
      );
    }
    for (const query of queries) taken.set(query.toLowerCase(), name);
  }
}

function checkColumns(kind: GraphQLObjectType, diagnostics: DiagnosticList): void {
  const taken = new Map(RESERVED_COLUMNS.map((name) => [name, 'the internal column of the record order']));
  for (const field of Object.values(kind.getFields())) {
    const { alias, computed } = readDirectives(field);
    if (alias !== undefined || computed !== undefined) continue;
    const column = field.name.toLowerCase();
    const other = taken.get(column);
    if (other !== undefined)
      diagnostics.add(field.astNode as ASTNode, `The name "${field.name}" conflicts with ${other}; case is ignored.`);
    taken.set(column, `${kind.name}.${field.name}`);
  }
}

/** Collects the objects inside a record. Reports those that contain themselves, which would need endless columns. */
function gatherInner(
  type: unknown,
  above: readonly GraphQLObjectType[],
  inner: Set<GraphQLObjectType>,
  diagnostics: DiagnosticList,
): void {
  if (!isObjectType(type) || isRecordType(type)) return;
  if (above.includes(type)) {
    diagnostics.add(type.astNode as ASTNode, `${type.name} contains itself.`);
    return;
  }
  if (inner.has(type)) return;
  inner.add(type);
  for (const field of Object.values(type.getFields())) {
    gatherInner(getFieldShape(field).type, [...above, type], inner, diagnostics);
  }
}
