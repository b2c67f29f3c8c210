import { getNamedType, isInputType, Kind, print, typeFromAST, valueFromAST, visit } from 'graphql';
import type { DefinitionNode, DirectiveNode, GraphQLNamedType, GraphQLSchema, InputValueDefinitionNode } from 'graphql';
import type { MistakeList } from './mistakes.js';

/** Whether default values and the arguments of directives are of the types that they stand for. */
export function checkValues(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  mistakes: MistakeList,
): void {
  const document = { kind: Kind.DOCUMENT, definitions } as const;
  visit(document, {
    InputValueDefinition: (node) => checkDefault(schema, node, mistakes),
    Directive: (node) => checkDirective(schema, node, mistakes),
  });
}

function checkDefault(schema: GraphQLSchema, { type, defaultValue }: InputValueDefinitionNode, mistakes: MistakeList) {
  if (defaultValue === undefined) return;
  const inputType = typeFromAST(schema, type);
  // What is derived is there by name only, and can't judge a value.
  if (inputType === undefined || !isInputType(inputType) || isDeclared(getNamedType(inputType))) return;
  if (valueFromAST(defaultValue, inputType) === undefined) {
    mistakes.add(defaultValue, `Expected a default of type ${print(type)}; received ${print(defaultValue)}.`);
  }
}

const isDeclared = ({ astNode }: GraphQLNamedType): boolean => astNode != null && astNode.loc === undefined;

function checkDirective(schema: GraphQLSchema, node: DirectiveNode, mistakes: MistakeList): void {
  const known = schema.getDirective(node.name.value)?.args ?? [];
  for (const { name, value } of node.arguments ?? []) {
    const argument = known.find((candidate) => candidate.name === name.value);
    if (argument === undefined || valueFromAST(value, argument.type) !== undefined) continue;
    mistakes.add(
      value,
      `Expected a value of type ${String(argument.type)} for "${name.value}"; received ${print(value)}.`,
    );
  }
}
