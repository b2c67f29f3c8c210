import { toWireRules } from '../openapi/bundle.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  follow,
  followOnce,
  has,
  isRecord,
  items,
} from '../openapi/nodes.js';
import type { MessageKind, SchemaRuleName } from './changes.js';

/** The two contracts, and the place where changes are reported. */
export interface Comparison {
  readonly before: ContractSources;
  readonly after: ContractSources;
  readonly direction: MessageKind;
  /** Records a change of a schema at a place of either contract. */
  readonly report: (rule: SchemaRuleName, place: DocumentNode, message: string) => void;
  /** The pairs of schemas that are already compared, as schemas may contain themselves. */
  readonly seen: Set<string>;
}

/** Compares the values that two schemas allow. A missing schema allows any value. */
export function compareSchemas(comparison: Comparison, before: DocumentNode, after: DocumentNode): void {
  const [old, now] = [view(comparison.before, before), view(comparison.after, after)];
  const key = `${nameOf(old.place)} ${nameOf(now.place)}`;
  if (comparison.seen.has(key)) return;
  comparison.seen.add(key);
  if (compareVariants(comparison, old, now)) return;
  if (!compareTypes(comparison, old, now)) return;
  compareValues(comparison, old, now);
  for (const name of UPPER) compareBound(comparison, name, old, now, Infinity);
  for (const name of LOWER) compareBound(comparison, name, old, now, -Infinity);
  for (const name of FORMATS) compareFormat(comparison, name, old, now);
  compareProperties(comparison, old, now);
  compareItems(comparison, old, now);
  for (const name of ['default', ...OPAQUE]) compareOther(comparison, name, old, now);
}

const UPPER = ['maxContains', 'maxItems', 'maxLength', 'maxProperties', 'maximum', 'exclusiveMaximum'];
const LOWER = ['minContains', 'minItems', 'minLength', 'minProperties', 'minimum', 'exclusiveMinimum'];
const MIN_SIZES = ['minItems', 'minLength', 'minProperties'];
const FORMATS = ['contentEncoding', 'contentMediaType', 'format', 'multipleOf', 'pattern', 'uniqueItems'];

/** Keywords whose values are only compared for equality. */
const OPAQUE = [
  ...['contains', 'contentSchema', 'dependentRequired', 'dependentSchemas', 'discriminator', 'else', 'if', 'not'],
  ...['patternProperties', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
];

/** A schema without its references, with the parts of `allOf` merged. */
interface SchemaView {
  readonly place: DocumentNode;
  readonly sources: ContractSources;
  readonly parts: readonly DocumentNode[];
  /** The alternatives of `oneOf` and `anyOf`. */
  readonly variants: readonly DocumentNode[];
  /** Whether the schema was the alternative to null, as in `anyOf: [{ type: string }, { type: 'null' }]`. */
  readonly isNullable: boolean;
}

const nameOf = ({ source, path }: DocumentNode): string => `${source.file}#/${path.join('/')}`;

function view(sources: ContractSources, place: DocumentNode): SchemaView {
  const target = hasOwnRules(place) ? place : (follow(sources, place) ?? place);
  const seen = new Set<string>();
  const parts = listParts(sources, place, seen);
  const variants = listVariants(parts);
  const nulls = variants.filter((variant) => isNull(follow(sources, variant) ?? variant));
  const [only, ...others] = variants.filter((variant) => !nulls.includes(variant));
  const isNullable = only !== undefined && others.length === 0 && nulls.length > 0;
  if (!isNullable) return { place: target, sources, parts, variants, isNullable };
  const inner = listParts(sources, only, seen);
  const choices = listVariants(inner);
  const all = { place: target, sources, parts: [...parts, ...inner] };
  return choices.length === 0
    ? { ...all, variants: [], isNullable }
    : { ...all, variants: [...choices, ...nulls], isNullable: false };
}

const isNull = ({ value }: DocumentNode): boolean =>
  isRecord(value) && ([value.type].flat().join() === 'null' || value.const === null);

const listVariants = (parts: readonly DocumentNode[]): readonly DocumentNode[] =>
  ['oneOf', 'anyOf'].flatMap((name) => parts.flatMap((part) => items(child(part, name))));

/** Whether a reference has keywords beside it that limit values further. */
const hasOwnRules = ({ value }: DocumentNode): boolean =>
  isRecord(value) && Object.keys(toWireRules(value) as object).length > 1;

/** Lists a schema, the one that it refers to and those of its `allOf`, each once. */
function listParts(sources: ContractSources, place: DocumentNode, seen: Set<string>): readonly DocumentNode[] {
  if (seen.has(nameOf(place))) return [];
  seen.add(nameOf(place));
  const target = followOnce(sources, place);
  const parts = [...(target ? [target] : []), ...items(child(place, 'allOf'))];
  return [place, ...parts.flatMap((part) => listParts(sources, part, seen))];
}

/** Returns a keyword of the first part that has it. */
const find = ({ parts }: SchemaView, name: string): DocumentNode | undefined => {
  const part = parts.find((one) => has(one, name));
  return part && child(part, name);
};

/** Returns the place of a keyword, or that of the schema if it lacks the keyword. */
const at = (schema: SchemaView, name: string): DocumentNode => find(schema, name) ?? schema.place;

const show = (value: unknown): string => JSON.stringify(value);

function compareTypes({ direction, report }: Comparison, old: SchemaView, now: SchemaView): boolean {
  const [before, after] = [listTypes(old), listTypes(now)];
  const removed = before.filter((type) => !covers(after, type));
  const added = after.filter((type) => !covers(before, type));
  if (removed.length === 0 && added.length === 0) return true;
  const rule = removed.length === 0 ? 'type-widened' : added.length === 0 ? 'type-narrowed' : 'type-changed';
  const verb = direction === 'request' ? 'accepts' : 'returns';
  const place = old.isNullable === now.isNullable ? at(now, 'type') : now.place;
  report(rule, place, `The contract ${verb} ${after.join(' or ')} instead of ${before.join(' or ')}.`);
  return rule !== 'type-changed';
}

const covers = (types: readonly string[], type: string): boolean =>
  types.includes(type) || types.includes('any') || (type === 'integer' && types.includes('number'));

function listTypes(schema: SchemaView): readonly string[] {
  const types = listOwnTypes(schema);
  return schema.isNullable && !covers(types, 'null') ? [...types, 'null'] : types;
}

function listOwnTypes(schema: SchemaView): readonly string[] {
  const type = find(schema, 'type')?.value;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.map(String);
  const values = listValues(schema);
  if (values !== undefined) return [...new Set(values.map(typeOfJson))];
  return schema.place.value === false ? ['nothing'] : ['any'];
}

function typeOfJson(text: string): string {
  const value: unknown = JSON.parse(text);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Lists the values of `const` or `enum` as JSON; `undefined` if there is no list. */
function listValues(schema: SchemaView): readonly string[] | undefined {
  const [only, list] = [find(schema, 'const'), find(schema, 'enum')];
  const values: readonly unknown[] | undefined = only
    ? [only.value]
    : Array.isArray(list?.value)
      ? list.value
      : undefined;
  return values && [...new Set([...values, ...(schema.isNullable ? [null] : [])].map(show))];
}

function compareValues({ report }: Comparison, old: SchemaView, now: SchemaView): void {
  const [before, after] = [listValues(old), listValues(now)];
  const list = at(now, find(now, 'const') ? 'const' : 'enum');
  if (before === undefined && after === undefined) return;
  if (before === undefined) {
    report('value-removed', list, `The values are limited to ${after?.join(', ')}.`);
    return;
  }
  if (after === undefined) {
    report('value-added', now.place, `The values are not limited to ${before.join(', ')}.`);
    return;
  }
  const removed = before.filter((value) => !after.includes(value));
  const added = after.filter((value) => !before.includes(value));
  if (removed.length > 0) report('value-removed', list, `The value ${removed.join(', ')} is removed.`);
  if (added.length > 0) report('value-added', list, `The value ${added.join(', ')} is added.`);
}

/** @param absent The bound of a schema without the keyword. */
function compareBound({ report }: Comparison, name: string, old: SchemaView, now: SchemaView, absent: number): void {
  const [before, after] = [old, now].map((schema) => {
    const value = find(schema, name)?.value;
    // A size of at least 0 is any size.
    return value === undefined || (value === 0 && MIN_SIZES.includes(name)) ? absent : value;
  }) as [number, number];
  if (before === after) return;
  const isTighter = absent > 0 ? after < before : after > before;
  const text = `${name} is ${showBound(after)} instead of ${showBound(before)}.`;
  report(isTighter ? 'bound-tightened' : 'bound-loosened', at(now, name), text);
}

const showBound = (value: number): string => (Number.isFinite(value) ? String(value) : 'absent');

/** Some keywords are not compared if they are `false`. `uniqueItems: false` is the same as no keyword. */
const presentOf = (value: unknown): unknown => (value === false ? undefined : value);

function compareFormat({ report }: Comparison, name: string, old: SchemaView, now: SchemaView): void {
  const [before, after] = [old, now].map((schema) => presentOf(find(schema, name)?.value));
  if (before === after) return;
  if (before === undefined) {
    report('bound-tightened', at(now, name), `${name} is ${show(after)}.`);
    return;
  }
  if (after === undefined) {
    report('bound-loosened', now.place, `${name} is not ${show(before)}.`);
    return;
  }
  report('format-changed', at(now, name), `${name} is ${show(after)} instead of ${show(before)}.`);
}

interface Property {
  readonly place: DocumentNode;
  readonly isRequired: boolean;
}

function listProperties({ parts, sources }: SchemaView, direction: MessageKind): ReadonlyMap<string, Property> {
  const names = parts.flatMap((part) => items(child(part, 'required')));
  const required = new Set(names.map(({ value }) => value));
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly';
  const declared = parts.flatMap((part) => entries(child(part, 'properties'))).reverse();
  // A property may be required without a schema, which allows any value.
  const others = names.map(({ source, path, value }) => [String(value), { source, path, value: true }] as const);
  const known = new Set(declared.map(([name]) => name));
  const places = [...declared, ...others.filter(([name]) => !known.has(name))];
  const seen = places.filter(([, place]) => child(follow(sources, place) ?? place, hidden).value !== true);
  return new Map(seen.map(([name, place]) => [name, { place, isRequired: required.has(name) }]));
}

const isClosed = (schema: SchemaView): boolean =>
  ['additionalProperties', 'unevaluatedProperties'].some((name) => find(schema, name)?.value === false);

function compareProperties(comparison: Comparison, old: SchemaView, now: SchemaView): void {
  const { direction, report } = comparison;
  const [before, after] = [listProperties(old, direction), listProperties(now, direction)];
  for (const [name, property] of before) {
    const match = after.get(name);
    if (match === undefined) reportRemoved(comparison, name, property, now);
    else compareProperty(comparison, name, property, match);
  }
  for (const [name, { place, isRequired }] of after) {
    if (before.has(name)) continue;
    const rule = isRequired ? 'required-property-added' : 'property-added';
    report(rule, place, `The ${isRequired ? 'required ' : ''}property "${name}" is added.`);
  }
  compareAdditional(comparison, old, now);
}

function reportRemoved(
  { direction, report }: Comparison,
  name: string,
  { place, isRequired }: Property,
  now: SchemaView,
): void {
  const isRefused = direction === 'request' && isClosed(now);
  const rule = isRefused ? 'property-refused' : isRequired ? 'required-property-removed' : 'property-removed';
  report(rule, place, `The property "${name}" is removed.`);
}

function compareProperty(comparison: Comparison, name: string, before: Property, after: Property): void {
  const { report } = comparison;
  if (!before.isRequired && after.isRequired) {
    report('property-became-required', after.place, `The property "${name}" is required.`);
  }
  if (before.isRequired && !after.isRequired) {
    report('property-became-optional', after.place, `The property "${name}" is optional.`);
  }
  compareSchemas(comparison, before.place, after.place);
}

function compareAdditional(comparison: Comparison, old: SchemaView, now: SchemaView): void {
  const { report } = comparison;
  const [before, after] = [find(old, 'additionalProperties'), find(now, 'additionalProperties')];
  if (isClosed(old) && isClosed(now)) return;
  if (isClosed(now)) {
    report('property-refused', at(now, 'additionalProperties'), 'Other properties are refused.');
    return;
  }
  if (isClosed(old)) {
    report('properties-opened', now.place, 'Other properties are possible.');
    return;
  }
  if (isRecord(before?.value) || isRecord(after?.value)) {
    compareSchemas(comparison, before ?? nothing(old), after ?? nothing(now));
  }
}

/** The place of a schema that is missing, which allows any value. */
const nothing = ({ place: { source, path } }: SchemaView): DocumentNode => ({
  source,
  path: [...path, '(any)'],
  value: true,
});

function compareItems(comparison: Comparison, old: SchemaView, now: SchemaView): void {
  const [before, after] = [find(old, 'items'), find(now, 'items')];
  const [first, second] = [old, now].map((schema) => items(at(schema, 'prefixItems')));
  const length = Math.max(first?.length ?? 0, second?.length ?? 0);
  for (let index = 0; index < length; index += 1) {
    compareSchemas(comparison, first?.[index] ?? before ?? nothing(old), second?.[index] ?? after ?? nothing(now));
  }
  if (before !== undefined || after !== undefined) {
    compareSchemas(comparison, before ?? nothing(old), after ?? nothing(now));
  }
}

function compareOther({ report }: Comparison, name: string, old: SchemaView, now: SchemaView): void {
  const [before, after] = [old, now].map((schema) => {
    const value = find(schema, name)?.value;
    // A closed schema is compared like one with `additionalProperties: false`.
    return show(toWireRules(name === 'unevaluatedProperties' ? presentOf(value) : value));
  });
  if (before === after) return;
  if (name === 'default') report('default-changed', at(now, name), `The default is ${after} instead of ${before}.`);
  else report('schema-changed', at(now, name), `The keyword ${name} is changed.`);
}

/** Compares the alternatives of two schemas. Returns whether the rest of the schemas need not be compared. */
function compareVariants(comparison: Comparison, old: SchemaView, now: SchemaView): boolean {
  const [before, after] = [old.variants, now.variants];
  if (before.length === 0 && after.length === 0) return false;
  const previous = before.length === 0 ? [old.place] : before;
  const current = after.length === 0 ? [now.place] : after;
  const pairs = new Map(previous.map((variant) => [variant, findMatch(comparison, variant, current)]));
  const matched = new Set(pairs.values());
  const gone = previous.filter((variant) => pairs.get(variant) === undefined);
  const fresh = current.filter((variant) => !matched.has(variant));
  for (const [variant, match] of pairs) if (match !== undefined) compareSchemas(comparison, variant, match);
  const [first, second] = [gone[0], fresh[0]];
  if (gone.length === 1 && fresh.length === 1 && first && second) compareSchemas(comparison, first, second);
  else {
    for (const variant of gone) comparison.report('variant-removed', variant, 'An alternative is removed.');
    for (const variant of fresh) comparison.report('variant-added', variant, 'An alternative is added.');
  }
  return before.length === 0 || after.length === 0;
}

/** Finds the alternative that refers to the same component, or has the same rules, title or type. */
function findMatch(
  { before, after }: Comparison,
  variant: DocumentNode,
  candidates: readonly DocumentNode[],
): DocumentNode | undefined {
  const old = follow(before, variant) ?? variant;
  const targets = candidates.map((candidate) => ({ candidate, target: follow(after, candidate) ?? candidate }));
  const isSame = [
    (target: DocumentNode) => isComponent(old) && isComponent(target) && old.path.at(-1) === target.path.at(-1),
    (target: DocumentNode) => show(toWireRules(old.value)) === show(toWireRules(target.value)),
    (target: DocumentNode) => has(old, 'title') && child(old, 'title').value === child(target, 'title').value,
  ];
  return isSame
    .map((test) => targets.find(({ target }) => test(target))?.candidate)
    .find((found) => found !== undefined);
}

const isComponent = ({ path }: DocumentNode): boolean => path.length === 3 && path[0] === 'components';
