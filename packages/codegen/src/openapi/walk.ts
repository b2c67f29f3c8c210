import { type ObjectName, OPENAPI_GRAMMAR, type ValueRule } from './grammar.js';
import { child, type DocumentNode, entries, has, isRecord, items } from './nodes.js';

/** An object of OpenAPI in a document, such as a schema or a parameter, or the reference in its place. */
export interface TypedNode {
  readonly place: DocumentNode;
  readonly name: ObjectName;
}

/** Lists the objects of a document by the grammar, each before its parts. References are not followed. */
export function listObjects(place: DocumentNode, name: ObjectName = 'contract'): TypedNode[] {
  const found: TypedNode[] = [];
  collectObject(place, name, found);
  return found;
}

function collectObject(place: DocumentNode, name: ObjectName, found: TypedNode[]): void {
  if (!isRecord(place.value)) return;
  found.push({ place, name });
  const { fields, others, section } = OPENAPI_GRAMMAR[name];
  // Only schemas have other members beside a reference.
  if (section !== undefined && name !== 'schema' && has(place, '$ref')) return;
  for (const key of Object.keys(place.value)) {
    const rule = Object.hasOwn(fields, key) ? fields[key] : key.startsWith('x-') ? undefined : others;
    if (rule !== undefined && isCompound(rule)) collect(child(place, key), rule, found);
  }
}

type Compound = Exclude<ValueRule, string>;

const isCompound = (rule: ValueRule): rule is Compound => typeof rule === 'object';

function collect(place: DocumentNode, rule: ValueRule, found: TypedNode[]): void {
  if (!isCompound(rule)) return;
  if ('object' in rule) collectObject(place, rule.object, found);
  else if ('list' in rule) for (const item of items(place)) collect(item, rule.list, found);
  else if ('map' in rule) for (const [, member] of entries(place)) collect(member, rule.map, found);
  else if ('either' in rule) for (const one of rule.either) collect(place, one, found);
}
