import { didYouMean } from '../../documents.js';
import { type ObjectName, OPENAPI_GRAMMAR, type Scalar, type ValueRule } from '../grammar.js';
import {
  checkReference,
  type ContractSources,
  type DocumentNode,
  entries,
  has,
  isRecord,
  items,
  type ReportDiagnostic,
} from '../nodes.js';
import { isUnicodePattern } from '../patterns.js';

/**
 * Checks a document against {@link OPENAPI_GRAMMAR}: its fields, their types, and the targets of references.
 *
 * A plugin of Redocly would still need this table, walk and wording, as its rules have messages of their own. Its parser
 * also stops at the first syntax error, and its bundler renames equal names of components instead of reporting them.
 */
export function checkStructure(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  checkObject(root, 'contract', { sources, report });
}

interface Context {
  readonly sources: ContractSources;
  readonly report: ReportDiagnostic;
}

const SCALARS: Readonly<Record<Scalar, { readonly expected: string; readonly fits: (value: unknown) => boolean }>> = {
  boolean: { expected: 'true or false', fits: (value) => typeof value === 'boolean' },
  count: { expected: 'a whole number from 0', fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0 },
  number: { expected: 'a number', fits: Number.isFinite },
  pattern: { expected: 'a regular expression', fits: (value) => typeof value === 'string' && isUnicodePattern(value) },
  text: { expected: 'text', fits: (value) => typeof value === 'string' },
  values: { expected: 'a list', fits: Array.isArray },
};

function checkShape(place: DocumentNode, shape: ValueRule, context: Context): void {
  if (shape === 'any') return;
  if (typeof shape === 'string') checkScalar(place, shape, context);
  else if ('oneOf' in shape) checkOneOf(place, shape.oneOf, context);
  else if ('matching' in shape) checkMatch(place, shape, context);
  else if ('object' in shape) checkObject(place, shape.object, context);
  else if ('either' in shape) checkShape(place, pickShape(place, shape.either), context);
  else checkParts(place, shape, context);
}

type Compound = Extract<ValueRule, { readonly list: ValueRule } | { readonly map: ValueRule }>;

function checkParts(place: DocumentNode, shape: Compound, context: Context): void {
  if ('map' in shape && shape.keys !== undefined) checkKeys(place, shape.keys, context);
  if ('list' in shape && shape.isFilled && Array.isArray(place.value) && place.value.length === 0) {
    reportType(place, 'a list of at least one value', context);
  }
  const [parts, expected, inner] =
    'list' in shape
      ? ([Array.isArray(place.value) ? items(place) : undefined, 'a list', shape.list] as const)
      : ([isRecord(place.value) ? entries(place).map(([, part]) => part) : undefined, 'a mapping', shape.map] as const);
  if (parts === undefined) reportType(place, expected, context);
  for (const part of parts ?? []) checkShape(part, inner, context);
}

function checkKeys(place: DocumentNode, scalar: Scalar, { report }: Context): void {
  const { expected, fits } = SCALARS[scalar];
  for (const [key, part] of entries(place)) {
    if (!fits(key)) report(part, `Expected ${expected} as a key of ${nameOf(place)}; received ${show(key)}.`, 'key');
  }
}

/** Returns the second shape for mappings and lists, the first for all other values. */
function pickShape({ value }: DocumentNode, [simple, compound]: readonly [ValueRule, ValueRule]): ValueRule {
  return typeof value === 'object' && value !== null ? compound : simple;
}

function checkScalar(place: DocumentNode, scalar: Scalar, context: Context): void {
  if (!SCALARS[scalar].fits(place.value)) reportType(place, SCALARS[scalar].expected, context);
}

function checkOneOf(place: DocumentNode, known: readonly string[], { report }: Context): void {
  if (typeof place.value === 'string' && known.includes(place.value)) return;
  const near = typeof place.value === 'string' ? didYouMean(place.value, known) : '';
  if (place.value === null && known.includes('null')) {
    report(place, `Expected ${nameOf(place)} to be text; received null. Use quotes: "null".`);
    return;
  }
  report(place, `Expected ${nameOf(place)} to be one of ${known.join(', ')}; received ${show(place.value)}.${near}`);
}

function checkMatch(
  place: DocumentNode,
  { matching, expected }: Extract<ValueRule, { readonly matching: RegExp }>,
  context: Context,
): void {
  if (typeof place.value !== 'string' || !matching.test(place.value)) reportType(place, expected, context);
}

function checkObject(place: DocumentNode, name: ObjectName, context: Context): void {
  const { fields, required = [], section, others, unused = {} } = OPENAPI_GRAMMAR[name];
  // `true` and `false` are valid schemas, which accept anything and nothing.
  if (name === 'schema' && typeof place.value === 'boolean') return;
  if (!isRecord(place.value)) {
    reportType(place, `a mapping (${toWords(name)})`, context);
    return;
  }
  if (section !== undefined && has(place, '$ref')) {
    checkReference(context.sources, place, section, context.report);
    // Only schemas have other fields beside `$ref`.
    if (name !== 'schema') return;
  }
  for (const [key, part] of entries(place)) {
    const shape = Object.hasOwn(fields, key) ? fields[key] : key.startsWith('x-') ? undefined : others;
    if (Object.hasOwn(unused, key)) context.report.warn(part, `"${key}" has no effect: ${unused[key] ?? ''}.`, 'key');
    if (shape === undefined) checkUnknownField(part, { key, name, parent: place.value }, context);
    else checkShape(part, shape, context);
  }
  for (const key of required) {
    if (!has(place, key))
      context.report(place, `The required field ${key} is missing in this ${toWords(name)}.`, 'key');
  }
}

function checkUnknownField(
  place: DocumentNode,
  { key, name, parent }: { readonly key: string; readonly name: ObjectName; readonly parent: object },
  { report }: Context,
): void {
  const { fields, unsupported = {} } = OPENAPI_GRAMMAR[name];
  if (Object.hasOwn(unsupported, key)) {
    report(place, `"${key}" is not supported here: ${unsupported[key] ?? ''}.`, 'key');
    return;
  }
  const known = Object.keys(fields);
  if (!key.startsWith('x-')) {
    const near = didYouMean(key, known);
    const list = near === '' ? ` Known fields: ${known.join(', ')}.` : near;
    // A schema without a keyword accepts more; elsewhere the field that is meant may change how a client calls.
    const tell = near === '' || name === 'schema' ? report.warn : report;
    tell(place, `Unknown field "${key}" in this ${toWords(name)}.${list}`, 'key');
    // The types would be written from some of them, such as a summary, whatever their values are.
    Reflect.deleteProperty(parent, key);
    return;
  }
  const owners = (Object.keys(OPENAPI_GRAMMAR) as ObjectName[]).filter((other) =>
    Object.hasOwn(OPENAPI_GRAMMAR[other].fields, key),
  );
  if (owners.length > 0) {
    report.warn(
      place,
      `"${key}" has no effect in this ${toWords(name)}; it is for: ${owners.map(toWords).join(', ')}.`,
      'key',
    );
    return;
  }
  // Extensions of other tools are accepted, unless the name looks like a typo of a known one.
  const near = didYouMean(
    key,
    known.filter((field) => field.startsWith('x-')),
  );
  if (near !== '') report(place, `Unknown extension "${key}".${near}`, 'key');
}

function reportType(place: DocumentNode, expected: string, { report }: Context): void {
  report(place, `Expected ${nameOf(place)} to be ${expected}; received ${show(place.value)}.`);
}

function nameOf({ path }: DocumentNode): string {
  const [key = 'the document', ...parents] = path.toReversed();
  const [list = ''] = parents;
  return /^\d+$/.test(key) && LISTS.includes(list) ? `each item of ${list}` : key;
}

/** Lists of which a message names the items. */
const LISTS = ['required', 'tags', 'type'];

function toWords(name: ObjectName): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : typeof value === 'number' ? String(value) : JSON.stringify(value);
}
