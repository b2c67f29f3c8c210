import { Kind } from 'graphql';
import type { DefinitionNode, EnumValueDefinitionNode, FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import type { Location } from '../target.js';
import { locate } from './mistakes.js';
import { derivedNames } from './names.js';
import { recordName } from './print-records.js';

/**
 * The line of the contract behind each name that is generated: types, `Type.field`,
 * members and arguments; and a field's bare name where only one type has it.
 */
export function listOrigins(written: readonly DefinitionNode[]): ReadonlyMap<string, Location> {
  const origins = new Map<string, Location>();
  const bare = new Map<string, Member[]>();
  for (const definition of written) {
    if (!('name' in definition) || definition.name === undefined) continue;
    const type = definition.name.value;
    for (const name of [type, ...namesAfter(definition, type)]) origins.set(name, locate(definition));
    for (const member of membersOf(definition)) {
      origins.set(`${type}.${member.name.value}`, locate(member));
      bare.set(member.name.value, [...(bare.get(member.name.value) ?? []), member]);
    }
  }
  for (const [name, [node, ...others]] of bare)
    if (node && others.length === 0 && !origins.has(name)) origins.set(name, locate(node));
  return origins;
}

const namesAfter = (definition: DefinitionNode, type: string): string[] =>
  definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.INTERFACE_TYPE_DEFINITION
    ? [recordName(type), ...[...derivedNames([definition]).keys()].filter((name) => name.startsWith(type))]
    : [];

type Member = EnumValueDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode;

function membersOf(definition: DefinitionNode): readonly Member[] {
  if ('fields' in definition) return definition.fields ?? [];
  return 'values' in definition ? (definition.values ?? []) : [];
}
