import { Kind } from 'graphql';
import type { DefinitionNode, FieldDefinitionNode, ObjectTypeDefinitionNode } from 'graphql';

/** Returns whether a definition is that of a record type. */
export const isRecordDefinition = (node: DefinitionNode): node is ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION && (node.directives ?? []).some(({ name }) => name.value === 'record');

/** Appends the fields of Node that a record type omits, in the order of Node. */
export function addNodeFields(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const node = definitions.find((d) => d.kind === Kind.INTERFACE_TYPE_DEFINITION && d.name.value === 'Node');
  const inherited = node?.kind === Kind.INTERFACE_TYPE_DEFINITION ? (node.fields ?? []) : [];
  return definitions.map((definition) =>
    isRecordDefinition(definition) ? complete(definition, inherited) : definition,
  );
}

function complete(
  record: ObjectTypeDefinitionNode,
  inherited: readonly FieldDefinitionNode[],
): ObjectTypeDefinitionNode {
  const fields = record.fields ?? [];
  const written = new Set(fields.map(({ name }) => name.value));
  return { ...record, fields: [...fields, ...inherited.filter(({ name }) => !written.has(name.value))] };
}
