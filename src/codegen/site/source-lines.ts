import { isTypeDefinitionNode, isTypeExtensionNode } from 'graphql';
import type { DefinitionNode, EnumValueDefinitionNode, FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import type { Location } from '../contract-error.js';
import { locateAstNode } from './diagnostics.js';
import { hasFilter, listDerivedNamesOfType } from './names.js';
import { toRecordTypeName } from './print-records.js';

/**
 * Maps generated names to the contract lines that they come from: types, `Type.field`, members and arguments, and the
 * bare name of a field if only one type has it.
 */
export function mapSiteSourceLines(written: readonly DefinitionNode[]): ReadonlyMap<string, Location> {
  const origins = new Map<string, Location>();
  const bare = new Map<string, Set<Member>>();
  for (const definition of written) {
    if (!isTypeDefinitionNode(definition) && !isTypeExtensionNode(definition)) continue;
    const type = definition.name.value;
    for (const name of [type, ...namesAfter(definition, type)]) {
      if (!origins.has(name)) origins.set(name, locateAstNode(definition));
    }
    for (const member of membersOf(definition)) {
      for (const owner of ownersOf(type)) origins.set(`${owner}.${member.name.value}`, locateAstNode(member));
      // Record types that omit a field of Node share its node.
      bare.set(member.name.value, (bare.get(member.name.value) ?? new Set()).add(member));
    }
  }
  for (const [name, [member, ...others]] of bare) {
    if (member !== undefined && others.length === 0 && !origins.has(name)) origins.set(name, locateAstNode(member));
  }
  return origins;
}

const namesAfter = (definition: DefinitionNode, type: string): string[] =>
  hasFilter(definition) ? [toRecordTypeName(type), ...listDerivedNamesOfType(definition).keys()] : [];

/** Returns the generated types that have a member for each member of a type. */
const ownersOf = (type: string): string[] => [type, toRecordTypeName(type), `${type}FilterInput`, `${type}FieldsEnum`];

type Member = EnumValueDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode;

function membersOf(definition: DefinitionNode): readonly Member[] {
  if ('fields' in definition) return definition.fields ?? [];
  return 'values' in definition ? (definition.values ?? []) : [];
}
