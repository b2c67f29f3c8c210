import { isTypeDefinitionNode, Kind, parse } from 'graphql';
import type { DefinitionNode } from 'graphql';
import { isRecordDefinition } from './add-node-fields.js';
import { allQueryName, listDerivedNames, singleQueryName } from './names.js';

const BODIES = { enum: '{ _ }', input: '{ _: Int }', type: '{ _: Int }' };

/**
 * Returns placeholders of the types that will be derived, so that hand-written types can refer to them and the
 * documents form a complete schema.
 */
export function declarePlaceholderTypes(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const taken = new Set(definitions.map((node) => isTypeDefinitionNode(node) && node.name.value));
  const names = [...listDerivedNames(definitions)].filter(([name]) => !taken.has(name));
  const text = names.map(([name, kind]) => `${kind} ${name} ${BODIES[kind]}`);
  const query = taken.has('Query')
    ? []
    : [`type Query { ${['_', ...queryNames(definitions)].map((name) => `${name}: Int`).join(' ')} }`];
  const document = parse([...text, ...query].join('\n'), { noLocation: true });
  return document.definitions;
}

/** Returns each name once, as `check-records.ts` reports record types with the same queries. */
function queryNames(definitions: readonly DefinitionNode[]): ReadonlySet<string> {
  const kinds = definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION).filter(isRecordDefinition);
  return new Set(kinds.flatMap(({ name }) => [singleQueryName(name.value), allQueryName(name.value)]));
}
