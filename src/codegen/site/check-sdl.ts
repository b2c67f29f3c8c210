import { isTypeDefinitionNode, isTypeExtensionNode, Kind } from 'graphql';
import type { DefinitionNode, GraphQLError } from 'graphql';
// Not exported by the index of graphql, but the only access to its rules that preserves locations.
import { validateSDL } from 'graphql/validation/validate.js';
import { isRecordDefinition } from './add-node-fields.js';
import { declarePlaceholderTypes } from './declare-placeholder-types.js';
import { locateAstNode } from './diagnostics.js';
import type { DiagnosticList } from './diagnostics.js';
import { listDerivedNames, hasFilter, listDerivedNamesOfType } from './names.js';
import type { DerivedNames } from './names.js';

/** Checks the documents against GraphQL's rules and the reserved names. */
export function checkSdl(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  checkFoundation(definitions, diagnostics);
  const derived = listDerivedNames(definitions);
  checkDerivedNames(definitions, diagnostics);
  for (const definition of definitions) checkDefinition(definition, derived, diagnostics);
  const errors = validateSDL({
    kind: Kind.DOCUMENT,
    definitions: [...definitions, ...declarePlaceholderTypes(definitions)],
  });
  for (const error of errors) addSdlError(error, definitions, diagnostics);
}

/** Adds an error of GraphQL. The message about an unknown directive is replaced by one that lists the known ones. */
function addSdlError(error: GraphQLError, definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const node = error.nodes?.at(-1);
  const names = definitions.flatMap((known) => (known.kind === Kind.DIRECTIVE_DEFINITION ? [known.name.value] : []));
  if (node?.kind !== Kind.DIRECTIVE || !error.message.startsWith('Unknown directive')) {
    diagnostics.addError(error);
    return;
  }
  diagnostics.add(node, `Expected one of @${names.toSorted().join(', @')}, @deprecated; received @${node.name.value}.`);
}

/** Checks that the documents define the types that derived types rely on. */
function checkFoundation(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const [first] = definitions;
  const start =
    first === undefined ? { file: 'schema', line: 1, column: 1 } : { ...locateAstNode(first), line: 1, column: 1 };
  const names = definitions.map((definition) => ('name' in definition ? definition.name?.value : undefined));
  for (const [name, kind] of Object.entries({ Date: 'scalar', Node: 'interface', PageInfo: 'type' })) {
    if (!names.includes(name)) diagnostics.addAt(start, `The documents do not define "${kind} ${name}".`);
  }
  if (!definitions.some(isRecordDefinition)) {
    diagnostics.addAt(start, 'No type is marked @record.');
  }
}

/** Checks that derived names are unique: `Pan` and `PanGroup` would both have a `PanGroupConnection`. */
function checkDerivedNames(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const owners = new Map([...listDerivedNames([]).keys()].map((name) => [name, 'all record types']));
  for (const definition of definitions.filter(hasFilter)) {
    const type = definition.name.value;
    for (const name of listDerivedNamesOfType(definition).keys()) {
      const owner = owners.get(name) ?? type;
      if (owner !== type) diagnostics.add(definition, `The name "${name}" is reserved: it is generated for ${owner}.`);
      owners.set(name, owner);
    }
  }
}

function checkDefinition(definition: DefinitionNode, derived: DerivedNames, diagnostics: DiagnosticList): void {
  const { kind } = definition;
  if (kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION) {
    diagnostics.add(definition, 'Expected the definition of a type, directive or extension; received a query.');
    return;
  }
  if (kind === Kind.SCHEMA_DEFINITION || kind === Kind.SCHEMA_EXTENSION) {
    diagnostics.add(
      definition,
      'A schema definition is not allowed: the only operation type is Query, which is generated.',
    );
    return;
  }
  const name = definition.name.value;
  if (name === 'Mutation' || name === 'Subscription') {
    diagnostics.add(definition, `The name "${name}" is reserved: the schema is read-only.`);
  }
  if (name === 'Query' && isTypeDefinitionNode(definition)) {
    diagnostics.add(definition, 'The type Query is generated. Add fields with "extend type Query".');
  }
  if (!derived.has(name)) return;
  const message = isTypeExtensionNode(definition)
    ? `The type "${name}" is generated and cannot be extended.`
    : `The name "${name}" is reserved: it is generated for the record types.`;
  diagnostics.add(definition, message);
}
