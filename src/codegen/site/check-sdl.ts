import { isTypeDefinitionNode, isTypeExtensionNode, Kind } from 'graphql';
import type { DefinitionNode, GraphQLError } from 'graphql';
// Not part of graphql's index, but the only way to its rules that keeps the locations.
import { validateSDL } from 'graphql/validation/validate.js';
import { isRecordDefinition } from './complete-records.js';
import { declareDerived } from './declare-derived.js';
import { locate } from './mistakes.js';
import type { MistakeList } from './mistakes.js';
import { derivedNames, hasFilter, namesOf } from './names.js';
import type { DerivedNames } from './names.js';

/** GraphQL's own rules for documents, and the names that a person may not take. */
export function checkSdl(definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  checkFoundation(definitions, mistakes);
  const derived = derivedNames(definitions);
  checkDerivedNames(definitions, mistakes);
  for (const definition of definitions) checkDefinition(definition, derived, mistakes);
  const errors = validateSDL({ kind: Kind.DOCUMENT, definitions: [...definitions, ...declareDerived(definitions)] });
  for (const error of errors) addSdlError(error, definitions, mistakes);
}

/** Adds to GraphQL's words what they leave out: the directives that there are. */
function addSdlError(error: GraphQLError, definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  const node = error.nodes?.at(-1);
  const names = definitions.flatMap((known) => (known.kind === Kind.DIRECTIVE_DEFINITION ? [known.name.value] : []));
  if (node?.kind !== Kind.DIRECTIVE || !error.message.startsWith('Unknown directive')) {
    mistakes.addError(error);
    return;
  }
  mistakes.add(node, `Expected one of @${names.toSorted().join(', @')}, @deprecated; received @${node.name.value}.`);
}

/** What derived types name, or stand for. */
function checkFoundation(definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  const [first] = definitions;
  const start = first === undefined ? { file: 'schema', line: 1, column: 1 } : { ...locate(first), line: 1, column: 1 };
  const names = definitions.map((definition) => ('name' in definition ? definition.name?.value : undefined));
  for (const [name, kind] of Object.entries({ Date: 'scalar', Node: 'interface', PageInfo: 'type' })) {
    if (!names.includes(name)) mistakes.addAt(start, `Expected the documents to define "${kind} ${name}"; none does.`);
  }
  if (!definitions.some(isRecordDefinition)) {
    mistakes.addAt(start, 'Expected at least one type marked @record; there is none.');
  }
}

/** `Pan` and `PanGroup` would both have a `PanGroupConnection`. */
function checkDerivedNames(definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  const givers = new Map([...derivedNames([]).keys()].map((name) => [name, 'all kinds']));
  for (const definition of definitions.filter(hasFilter)) {
    const type = definition.name.value;
    for (const name of namesOf(definition).keys()) {
      const giver = givers.get(name) ?? type;
      if (giver !== type)
        mistakes.add(definition, `Expected another name: the type "${name}" is derived for ${giver} already.`);
      givers.set(name, giver);
    }
  }
}

function checkDefinition(definition: DefinitionNode, derived: DerivedNames, mistakes: MistakeList): void {
  const { kind } = definition;
  if (kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION) {
    mistakes.add(definition, 'Expected the definition of a type, directive or extension; received a query.');
    return;
  }
  if (kind === Kind.SCHEMA_DEFINITION || kind === Kind.SCHEMA_EXTENSION) {
    mistakes.add(definition, 'Expected no schema definition: the one operation type is Query, which is derived.');
    return;
  }
  const name = definition.name.value;
  if (name === 'Mutation' || name === 'Subscription') {
    mistakes.add(definition, `Expected a read-only schema, with Query alone; received the reserved name "${name}".`);
  }
  if (name === 'Query' && isTypeDefinitionNode(definition)) {
    mistakes.add(definition, 'Expected "extend type Query": type Query itself is derived.');
  }
  if (!derived.has(name)) return;
  const expected = isTypeExtensionNode(definition) ? 'an extension of a written type' : 'another name';
  mistakes.add(definition, `Expected ${expected}: the type "${name}" is derived from the records.`);
}
