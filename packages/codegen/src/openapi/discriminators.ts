/**
 * Discriminators by the values that their alternatives allow. OpenAPI says that a value names its schema unless there is a
 * mapping, and that a discriminator does not change which values are valid. Many documents satisfy only the second.
 */
import { typesOf } from './forms.js';
import { listObjects } from './grammar.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  isRecord,
  items,
  recordMove,
  type ReportDiagnostic,
} from './nodes.js';

/** Completes the discriminators of a document, or removes those that would reject valid values. */
export function completeDiscriminators(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  for (const { name, place } of listObjects(root)) {
    const property = findTextField(child(place, 'discriminator'), 'propertyName');
    const word = has(place, 'oneOf') ? 'oneOf' : 'anyOf';
    if (name !== 'schema' || property === undefined || !isRecord(place.value)) continue;
    if (!Array.isArray(place.value[word])) continue;
    separateOthers(sources, place, word);
    checkMapping(sources, place, { property, word }, report);
    const problem = completeMapping(sources, place, { property, word });
    if (problem === undefined) continue;
    report.warn(child(place, 'discriminator'), `The discriminator has no effect: ${problem}.`, 'key');
    delete place.value.discriminator;
  }
}

/** Reports values of the mapping that their alternatives do not allow, so that no value is valid. */
function checkMapping(
  sources: ContractSources,
  place: DocumentNode,
  { property, word }: Choice,
  report: ReportDiagnostic,
): void {
  const alternatives = new Map(items(child(place, word)).map((one) => [toName(findTextField(one, '$ref')), one]));
  for (const [value, target] of entries(child(child(place, 'discriminator'), 'mapping'))) {
    const name = toName(target.value);
    const allowed = listOwnConstants(sources, alternatives.get(name), property);
    if (allowed === undefined || allowed.includes(value)) continue;
    const list = allowed.map((one) => `"${one}"`).join(', ');
    report.warn(
      target,
      `"${name}" allows only ${list} for "${property}", so the value "${value}" is never valid.`,
      'key',
    );
  }
}

/** Returns the constants of a property in a schema and in the parts of its `allOf`, without those of further parts. */
function listOwnConstants(
  sources: ContractSources,
  place: DocumentNode | undefined,
  property: string,
): readonly string[] | undefined {
  const schema = place && follow(sources, place);
  if (schema === undefined) return undefined;
  const parts = [schema, ...items(child(schema, 'allOf')).flatMap((part) => follow(sources, part) ?? [])];
  const found = parts.map((part) => listConstants(sources, child(child(part, 'properties'), property)));
  return found.find((values) => values !== undefined);
}

/** Takes values that are not objects, which have no properties, out of the choice by the property. */
function separateOthers(sources: ContractSources, place: DocumentNode, word: string): void {
  const alternatives = (place.value as Record<string, unknown[]>)[word] ?? [];
  const { mapping } = child(place, 'discriminator').value as { readonly mapping?: unknown };
  let allowsNull = false;
  for (const [index, alternative] of items(child(place, word)).entries()) {
    const types = listTypes(sources, alternative);
    if (findTextField(alternative, '$ref') === undefined || !types.some((type) => type !== 'object')) continue;
    allowsNull ||= types.includes('null');
    if (types.includes('object')) continue;
    alternatives[index] = { allOf: [alternative.value] };
    recordMove(child(child(child(child(place, word), index), 'allOf'), 0), alternative);
    for (const [value, target] of Object.entries(isRecord(mapping) ? mapping : {}))
      if (target === findTextField(alternative, '$ref')) Reflect.deleteProperty(mapping as object, value);
  }
  if (allowsNull && !items(child(place, word)).some(({ value }) => isRecord(value) && value.type === 'null'))
    alternatives.push({ type: 'null' });
}

/** Lists the types of a schema, with those of its alternatives. */
function listTypes(sources: ContractSources, place: DocumentNode, depth = 0): readonly string[] {
  const schema = follow(sources, place);
  if (schema === undefined || depth > MAX_DEPTH) return [];
  const own = typesOf(schema);
  if (own.length > 0) return own;
  return listAlternatives(schema).flatMap((alternative) => listTypes(sources, alternative, depth + 1));
}

/** Alternatives of alternatives of alternatives are rare, and may be circular. */
const MAX_DEPTH = 4;

const listAlternatives = (schema: DocumentNode): DocumentNode[] =>
  ['anyOf', 'oneOf'].flatMap((word) => items(child(schema, word))).filter(({ value }) => !isNull(value));

const isNull = (value: unknown): boolean => isRecord(value) && value.type === 'null';

interface Choice {
  readonly property: string;
  readonly word: string;
}

/**
 * Adds the values to the mapping that alternatives allow instead of their names. Returns the reason if the property cannot
 * select an alternative.
 */
function completeMapping(
  sources: ContractSources,
  place: DocumentNode,
  { property, word }: Choice,
): string | undefined {
  const discriminator = child(place, 'discriminator').value as Record<string, unknown>;
  const mapped = entries(child(child(place, 'discriminator'), 'mapping'));
  const owners = new Map(mapped.map(([value, { value: target }]) => [value, toName(target)]));
  const known = new Set(owners.values());
  const added: [value: string, ref: string][] = [];
  for (const alternative of items(child(place, word))) {
    const ref = findTextField(alternative, '$ref');
    const name = toName(ref);
    if (ref === undefined || known.has(name)) continue;
    known.add(name);
    const own = listValues(sources, alternative, property) ?? [name];
    const values = own.includes(name) ? [name] : own;
    const shared = values.find((value) => owners.has(value));
    if (shared !== undefined) return `"${owners.get(shared) ?? ''}" and "${name}" both allow "${shared}"`;
    for (const value of values) owners.set(value, name);
    if (own.includes(name)) continue;
    if (!isRequired(sources, alternative, property)) return `"${name}" does not require "${property}"`;
    added.push(...values.map((value): [string, string] => [value, ref]));
  }
  const { mapping } = discriminator;
  if (added.length > 0) discriminator.mapping = { ...(isRecord(mapping) ? mapping : {}), ...Object.fromEntries(added) };
  return undefined;
}

const toName = (target: unknown): string => (typeof target === 'string' ? (target.split('/').at(-1) ?? '') : '');

/** Lists the values that a schema allows for a property; `undefined` if it allows any text. */
function listValues(
  sources: ContractSources,
  place: DocumentNode,
  property: string,
  depth = 0,
): readonly string[] | undefined {
  const schema = follow(sources, place);
  if (schema === undefined || depth > MAX_DEPTH) return undefined;
  const own = listConstants(sources, child(child(schema, 'properties'), property));
  return own ?? combine(schema, (part) => listValues(sources, part, property, depth + 1));
}

function listConstants(sources: ContractSources, place: DocumentNode, depth = 0): readonly string[] | undefined {
  const schema = follow(sources, place);
  if (schema === undefined || depth > MAX_DEPTH) return undefined;
  const values = has(schema, 'const') ? [child(schema, 'const')] : items(child(schema, 'enum'));
  const texts = values.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return texts.length > 0 ? texts : combine(schema, (part) => listConstants(sources, part, depth + 1));
}

/** Returns the values of a part of `allOf`, or those of all alternatives. */
function combine(
  schema: DocumentNode,
  read: (part: DocumentNode) => readonly string[] | undefined,
): readonly string[] | undefined {
  for (const part of items(child(schema, 'allOf'))) {
    const values = read(part);
    if (values !== undefined) return values;
  }
  const found = listAlternatives(schema).map(read);
  return found.length === 0 || found.includes(undefined) ? undefined : [...new Set(found.flatMap((one) => one ?? []))];
}

function isRequired(sources: ContractSources, place: DocumentNode, property: string, depth = 0): boolean {
  const schema = follow(sources, place);
  if (schema === undefined || depth > MAX_DEPTH) return false;
  if (items(child(schema, 'required')).some(({ value }) => value === property)) return true;
  const test = (part: DocumentNode) => isRequired(sources, part, property, depth + 1);
  const alternatives = listAlternatives(schema);
  return items(child(schema, 'allOf')).some(test) || (alternatives.length > 0 && alternatives.every(test));
}
