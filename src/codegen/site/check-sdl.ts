import { Kind, parse } from 'graphql';
import type { DefinitionNode } from 'graphql';
// Not part of graphql's index, but the only way to its rules that keeps the locations.
import { validateSDL } from 'graphql/validation/validate.js';
import type { MistakeList } from './mistakes.js';
import { derivedNames } from './names.js';

/**
 * Stands for what will be derived, so that written types may name derived ones and
 * the documents are complete before anything is derived from them.
 */
export function declareDerived(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const bodies = { enum: '{ _ }', input: '{ _: Int }', type: '{ _: Int }' };
  const taken = new Set(definitions.map((definition) => 'name' in definition && definition.name?.value));
  const names = [...derivedNames(definitions)].filter(([name]) => !taken.has(name));
  const text = names.map(([name, kind]) => `${kind} ${name} ${bodies[kind]}`);
  const query = taken.has('Query') ? '' : 'type Query { _: Int }';
  return parse([...text, query].join('\n'), { noLocation: true }).definitions;
}

/** GraphQL's own rules for documents, and the names that a person may not take. */
export function checkSdl(definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  for (const definition of definitions) checkDefinition(definition, definitions, mistakes);
  const errors = validateSDL({ kind: Kind.DOCUMENT, definitions: [...definitions, ...declareDerived(definitions)] });
  for (const error of errors) mistakes.addError(error);
}

function checkDefinition(definition: DefinitionNode, all: readonly DefinitionNode[], mistakes: MistakeList): void {
  if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION) {
    return mistakes.add(definition, 'Expected the definition of a type, directive or extension; received a query.');
  }
  if (definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION) {
    return mistakes.add(
      definition,
      'Expected no schema definition: the one operation type is Query, which is derived.',
    );
  }
  const name = definition.name.value;
  if (name === 'Mutation' || name === 'Subscription') {
    mistakes.add(definition, `Expected a read-only schema, with Query alone; received the reserved name "${name}".`);
  }
  if (definition.kind.endsWith('TypeDefinition')) checkTypeName(definition, name, all, mistakes);
}

function checkTypeName(
  node: DefinitionNode,
  name: string,
  all: readonly DefinitionNode[],
  mistakes: MistakeList,
): void {
  if (name === 'Query') mistakes.add(node, 'Expected "extend type Query": type Query itself is derived.');
  if (derivedNames(all).has(name)) {
    mistakes.add(node, `Expected another name: a type named "${name}" is derived from the records.`);
  }
}
