import { getNamedType, isInputType, Kind, print, typeFromAST, valueFromAST, visit } from 'graphql';
import type { DefinitionNode, DirectiveNode, GraphQLNamedType, GraphQLSchema, InputValueDefinitionNode } from 'graphql';
import type { DiagnosticList } from './diagnostics.js';

/** Checks the types of default values and of directive arguments. */
export function checkValues(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  diagnostics: DiagnosticList,
): void {
  const document = { kind: Kind.DOCUMENT, definitions } as const;
  visit(document, {
    InputValueDefinition: (node) => checkDefault(schema, node, diagnostics),
    Directive: (node) => checkDirective(schema, node, diagnostics),
  });
}

function checkDefault(
  schema: GraphQLSchema,
  { type, defaultValue }: InputValueDefinitionNode,
  diagnostics: DiagnosticList,
) {
  if (defaultValue === undefined) return;
  const inputType = typeFromAST(schema, type);
  // Derived types are placeholders here, which can't validate a value.
  if (inputType === undefined || !isInputType(inputType) || isPlaceholder(getNamedType(inputType))) return;
  if (valueFromAST(defaultValue, inputType) === undefined) {
    diagnostics.add(defaultValue, `Expected a default of type ${print(type)}; received ${print(defaultValue)}.`);
  }
}

const isPlaceholder = ({ astNode }: GraphQLNamedType): boolean => astNode != null && astNode.loc === undefined;

function checkDirective(schema: GraphQLSchema, node: DirectiveNode, diagnostics: DiagnosticList): void {
  const known = schema.getDirective(node.name.value)?.args ?? [];
  for (const { name, value } of node.arguments ?? []) {
    const argument = known.find((candidate) => candidate.name === name.value);
    if (argument === undefined || valueFromAST(value, argument.type) !== undefined) continue;
    diagnostics.add(
      value,
      `Expected a value of type ${String(argument.type)} for "${name.value}"; received ${print(value)}.`,
    );
  }
}
