/** Checks schemas for rules that cannot match, and for rules that have no effect. */
import { formatNames } from 'ajv-formats/dist/formats.js';
import { closestName, didYouMean } from '../../documents.js';
import { typesOf } from '../forms.js';
import { listObjects } from '../grammar.js';
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
  type ReportDiagnostic,
} from '../nodes.js';

/** Checks every schema of a document. */
export function checkSchemas(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  const parents = new Map<unknown, DocumentNode>();
  const visited: Visited = new Map();
  for (const { place, name } of listObjects(root)) {
    if (name !== 'schema') continue;
    for (const word of ['allOf', 'anyOf', 'oneOf']) {
      for (const item of items(child(place, word))) parents.set(item.value, place);
    }
    const schema = { sources, place, parents };
    checkBounds(place, report);
    checkEnum(place, report);
    checkKeywords(place, report);
    checkFormat(place, report);
    checkRequired(schema, report);
    checkDefaults(place, report);
    checkComposition(schema, report);
    checkDiscriminator(schema, report);
    checkUnevaluated(schema, report);
    checkRecursion(schema, visited, report);
  }
}

type Visited = Map<unknown, 'entered' | 'left'>;

/** Reports a schema that validates a value by itself again, which would never end. */
function checkRecursion(
  { sources, place }: Pick<Schema, 'place' | 'sources'>,
  visited: Visited,
  report: ReportDiagnostic,
): void {
  if (!isRecord(place.value) || visited.get(place.value) === 'left') return;
  visited.set(place.value, 'entered');
  const reference = has(place, '$ref') ? follow(sources, place) : undefined;
  const parts = [...listParts(place), ...(has(place, 'not') ? [child(place, 'not')] : [])];
  for (const part of reference === undefined ? parts : [...parts, reference]) {
    if (visited.get(part.value) !== 'entered') checkRecursion({ sources, place: part }, visited, report);
    else report(place, 'The schema applies itself to the same value, without end.');
  }
  visited.set(place.value, 'left');
}

/** Returns the schemas that a schema applies to the same value, without its reference and those that it excludes. */
function listParts(place: DocumentNode): DocumentNode[] {
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => items(child(place, word)));
  const single = ['if', 'then', 'else'].filter((word) => has(place, word)).map((word) => child(place, word));
  return [...lists, ...single, ...entries(child(place, 'dependentSchemas')).map(([, part]) => part)];
}

interface Schema {
  readonly sources: ContractSources;
  readonly place: DocumentNode;
  /** The schema that a schema is an alternative of. */
  readonly parents: ReadonlyMap<unknown, DocumentNode>;
}

/** The lower bounds with their upper bounds. */
export const RANGES = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minContains', 'maxContains'],
] as const;

function checkBounds(place: DocumentNode, report: ReportDiagnostic): void {
  const bound = (key: string) => child(place, key).value;
  const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  const [top, bottom] = [below ?? bound('maximum'), above ?? bound('minimum')];
  const isEmpty = typeof top === 'number' && typeof bottom === 'number' && top <= bottom;
  if (isEmpty && above !== undefined) {
    report(child(place, 'exclusiveMinimum'), `Expected exclusiveMinimum to be below ${top}; received ${bottom}.`);
  } else if (isEmpty && below !== undefined) {
    report(child(place, 'exclusiveMaximum'), `Expected exclusiveMaximum to be above ${bottom}; received ${top}.`);
  }
  for (const [plain, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (!has(place, plain) || !has(place, exclusive)) continue;
    report.warn(child(place, exclusive), `Expected either ${plain} or ${exclusive}; received both.`, 'key');
  }
  if (typeof bound('multipleOf') === 'number' && Number(bound('multipleOf')) <= 0)
    report(child(place, 'multipleOf'), `Expected multipleOf to be above 0; received ${String(bound('multipleOf'))}.`);
}

/** Returns the types that a schema allows; `undefined` for all, and for types that are reported elsewhere. */
export function listTypes(place: DocumentNode): readonly string[] | undefined {
  const types: readonly unknown[] = [child(place, 'type').value].flat();
  return types.every((type) => typeof type === 'string') ? types : undefined;
}

const TYPE_TESTS = new Map<string, (value: unknown) => boolean>([
  ['array', Array.isArray],
  ['boolean', (value) => typeof value === 'boolean'],
  ['integer', Number.isInteger],
  ['null', (value) => value === null],
  ['number', (value) => typeof value === 'number'],
  ['object', isRecord],
  ['string', (value) => typeof value === 'string'],
]);

/** Returns whether a value has one of some types. Unknown types have errors of their own. */
export const fitsTypes = (types: readonly unknown[], value: unknown): boolean =>
  types.some((type) => TYPE_TESTS.get(String(type))?.(value) ?? true);

function checkEnum(place: DocumentNode, report: ReportDiagnostic): void {
  const types = listTypes(place);
  const { value } = child(place, 'const');
  if (has(place, 'const') && types !== undefined && !fitsTypes(types, value))
    report(child(place, 'const'), `Expected a value of type ${types.join(' or ')}; received ${JSON.stringify(value)}.`);
  if (has(place, 'enum') && items(child(place, 'enum')).length === 0)
    report.warn(child(place, 'enum'), 'An empty enum allows no value.', 'key');
  const seen = new Set<string>();
  for (const item of items(child(place, 'enum'))) {
    const text = JSON.stringify(item.value);
    if (seen.has(text)) report.warn(item, `The value ${text} is listed twice.`);
    seen.add(text);
  }
}

const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const STRINGS = ['minLength', 'maxLength', 'pattern'];
const ARRAYS = [
  'items',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'minItems',
  'maxItems',
  'uniqueItems',
];
const OBJECTS = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
];

const KEYWORDS: readonly (readonly [types: readonly string[], keywords: readonly string[]])[] = [
  [['integer', 'number'], NUMBERS],
  [['string'], STRINGS],
  [['array'], [...ARRAYS, 'unevaluatedItems']],
  [['object'], [...OBJECTS, 'required', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties']],
];

/** Reports keywords of other types, and those that need another keyword. */
function checkKeywords(place: DocumentNode, report: ReportDiagnostic): void {
  const types = listTypes(place);
  for (const [owners, keywords] of KEYWORDS) {
    if (types === undefined || owners.some((type) => types.includes(type))) continue;
    for (const keyword of keywords.filter((word) => has(place, word))) {
      const message = `"${keyword}" has no effect on type ${types.join(', ')}; it is for type ${owners.join(' or ')}.`;
      report.warn(child(place, keyword), message, 'key');
    }
  }
  if (child(place, 'readOnly').value === true && child(place, 'writeOnly').value === true)
    report.warn(child(place, 'writeOnly'), 'A property that is readOnly and writeOnly is never sent.', 'key');
  for (const [keyword, needed] of NEEDS) {
    if (has(place, keyword) && !needed.some((word) => has(place, word)))
      report.warn(child(place, keyword), `"${keyword}" has no effect without ${needed.join(' or ')}.`, 'key');
  }
}

const NEEDS: readonly (readonly [keyword: string, needed: readonly string[]])[] = [
  ['then', ['if']],
  ['else', ['if']],
  ['if', ['then', 'else']],
  ['minContains', ['contains']],
  ['maxContains', ['contains']],
  ['contentSchema', ['contentMediaType']],
];

const FORMATS: readonly string[] = formatNames;

const NUMBER_FORMATS = ['double', 'float', 'int32', 'int64'];

/** The formats of OpenAPI's registry that say nothing about the text. */
const ANNOTATIONS = ['decimal', 'html', 'media-range', 'commonmark', 'sf-string', 'uint8'];

/** Unknown formats are annotations, unless they look like a typo. */
function checkFormat(place: DocumentNode, report: ReportDiagnostic): void {
  const format = findTextField(place, 'format');
  const types = listTypes(place) ?? [];
  const owners = NUMBER_FORMATS.includes(format ?? '') ? ['integer', 'number'] : ['string'];
  if (
    format !== undefined &&
    FORMATS.includes(format) &&
    types.length > 0 &&
    !owners.some((type) => types.includes(type))
  ) {
    const message = `The format "${format}" has no effect on type ${types.join(', ')}; it is for type ${owners.join(' or ')}.`;
    report.warn(child(place, 'format'), message);
  }
  if (format === undefined || FORMATS.includes(format) || ANNOTATIONS.includes(format)) return;
  if (closestName(format, formatNames) === undefined) return;
  report.warn(child(place, 'format'), `The format "${format}" is not validated.${didYouMean(format, formatNames)}`);
}

/** Returns whether every object has a value of a name, such as `toString`. */
export const isInherited = (name: string): boolean => name in Object.prototype;

export const noDefault = (name: string): string =>
  `"${name}" cannot have a default, as every object inherits a value of that name.`;

function checkDefaults(place: DocumentNode, report: ReportDiagnostic): void {
  for (const [name, member] of entries(child(place, 'properties'))) {
    if (isInherited(name) && has(member, 'default')) report(child(member, 'default'), noDefault(name), 'key');
  }
}

/** Reports required properties that the schema does not describe. */
function checkRequired(schema: Schema, report: ReportDiagnostic): void {
  const required = items(child(schema.place, 'required'));
  if (required.length === 0) return;
  const known = new Set<string>();
  const isOpen = !collectProperties(schema.sources, getOutermost(schema), known);
  const seen = new Set<unknown>();
  for (const name of required) {
    if (seen.has(name.value)) report.warn(name, `The property "${String(name.value)}" is required twice.`);
    seen.add(name.value);
    if (isOpen || typeof name.value !== 'string' || known.has(name.value)) continue;
    report.warn(name, `The required property "${name.value}" is not described.${didYouMean(name.value, known)}`);
  }
}

/** Returns the schema that a schema is a part of by allOf, anyOf or oneOf. */
function getOutermost({ place, parents }: Schema): DocumentNode {
  const parent = parents.get(place.value);
  return parent === undefined ? place : getOutermost({ place: parent, parents, sources: new Map() });
}

/**
 * Adds the names of all properties of a schema and of its parts. Returns false if names are described in another way,
 * or not at all.
 */
function collectProperties(
  sources: ContractSources,
  place: DocumentNode,
  known: Set<string>,
  seen = new Set<unknown>(),
): boolean {
  const end = follow(sources, place);
  if (end === undefined || seen.has(end.value)) return known.size > 0;
  seen.add(end.value);
  for (const [name] of entries(child(end, 'properties'))) known.add(name);
  const isBeside = isRecord(place.value) && place !== end && Object.keys(place.value).length > 1;
  if (isBeside) for (const [name] of entries(child(place, 'properties'))) known.add(name);
  for (const part of listParts(end)) collectProperties(sources, part, known, seen);
  return known.size > 0 && !has(end, 'patternProperties');
}

/** Reports alternatives whose types exclude each other. */
function checkComposition({ sources, place }: Schema, report: ReportDiagnostic): void {
  const parts = [place, ...items(child(place, 'allOf'))].map((part) => follow(sources, part));
  const typed = parts.flatMap((part) => {
    const types = part && listTypes(part);
    return types === undefined || part === undefined ? [] : [{ part, types }];
  });
  if (!has(place, 'allOf') || typed.length < 2) return;
  const common = typed.reduce<readonly string[]>(
    (left, { types }) =>
      left.filter((type) => types.includes(type) || (type === 'integer' && types.includes('number'))),
    [...(typed[0]?.types ?? []), ...(typed[0]?.types.includes('number') === true ? ['integer'] : [])],
  );
  if (common.length > 0) return;
  const list = typed.map(({ types }) => types.join(' or ')).join(' and ');
  report(child(place, 'allOf'), `No value can match all of these schemas: their types are ${list}.`, 'key');
}

function checkDiscriminator({ sources, place }: Schema, report: ReportDiagnostic): void {
  if (!has(place, 'discriminator')) return;
  const discriminator = child(place, 'discriminator');
  const alternatives = ['oneOf', 'anyOf'].flatMap((word) => items(child(place, word)));
  const property = findTextField(discriminator, 'propertyName');
  if (alternatives.length === 0) {
    report.warn(discriminator, 'The discriminator has no effect on validation without oneOf or anyOf.', 'key');
    return;
  }
  for (const [, target] of entries(child(discriminator, 'mapping'))) checkMapping(alternatives, target, report);
  for (const alternative of alternatives) {
    const known = new Set<string>();
    collectProperties(sources, alternative, known);
    if (property === undefined || known.has(property) || isNotObject(sources, alternative)) continue;
    report.warn(alternative, `This alternative does not describe the property "${property}" of the discriminator.`);
  }
}

/**
 * Reports keywords beside which ajv 8 counts too few or too many items and properties as evaluated, as its results for
 * https://github.com/json-schema-org/JSON-Schema-Test-Suite show. Wrong values would be valid.
 */
function checkUnevaluated({ sources, place }: Schema, report: ReportDiagnostic): void {
  for (const keyword of ['unevaluatedItems', 'unevaluatedProperties'] as const) {
    if (!has(place, keyword)) continue;
    const reason = findUncounted(
      { sources, keyword, seen: { always: new Set(), sometimes: new Set() } },
      place,
      'always',
    );
    if (reason !== undefined) report(child(place, keyword), `"${keyword}" is not supported ${reason}.`, 'key');
  }
}

interface Evaluation {
  readonly sources: ContractSources;
  readonly keyword: 'unevaluatedItems' | 'unevaluatedProperties';
  /** The schemas that were visited, those that always apply and those that apply to some values. */
  readonly seen: { readonly always: Set<unknown>; readonly sometimes: Set<unknown> };
}

function findUncounted(
  evaluation: Evaluation,
  place: DocumentNode,
  applies: 'always' | 'sometimes',
): string | undefined {
  const { sources, keyword, seen } = evaluation;
  if (seen[applies].has(place.value)) return undefined;
  seen[applies].add(place.value);
  if (has(place, 'if') && !has(place, 'then')) return 'with an "if" without "then": use anyOf';
  if (keyword === 'unevaluatedItems' && has(place, 'contains')) return 'with "contains"';
  if (keyword === 'unevaluatedItems' && applies === 'sometimes' && has(place, 'items'))
    return 'with "items" in an alternative or a condition: use prefixItems there';
  const reference = has(place, '$ref') ? follow(sources, place) : undefined;
  const every = new Set(items(child(place, 'allOf')).map(({ value }) => value));
  for (const part of reference === undefined ? listParts(place) : [reference, ...listParts(place)]) {
    const isCertain = part === reference || every.has(part.value);
    const found = findUncounted(evaluation, part, isCertain ? applies : 'sometimes');
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns whether the values of a schema have no properties, such as null and lists. */
function isNotObject(sources: ContractSources, place: DocumentNode): boolean {
  const [first = place] = items(child(place, 'allOf'));
  const schema = follow(sources, first);
  const types = schema === undefined ? [] : typesOf(schema);
  return types.length > 0 && !types.includes('object');
}

function checkMapping(alternatives: readonly DocumentNode[], target: DocumentNode, report: ReportDiagnostic): void {
  const names = alternatives.flatMap((one) => findTextField(one, '$ref')?.split('/').at(-1) ?? []);
  if (typeof target.value !== 'string') return;
  const name = target.value.split('/').at(-1) ?? '';
  if (!names.includes(name))
    report(target, `Expected one of the alternatives; received "${target.value}".${didYouMean(name, names)}`);
}
