/** Values that travel as text: parameters, and the fields of forms. */
import { type ContractSources, child, type DocumentNode, entries, findTextField, follow, has, items } from './nodes.js';

/** A type of text. The order is that in which the server tries them. */
const TEXT_TYPES = ['null', 'boolean', 'integer', 'number', 'string'] as const;

type TextType = (typeof TEXT_TYPES)[number];

/** What a text may be according to its schema. */
export interface TextValue {
  /** The types of a single value, or of the items of a list; none for objects. */
  readonly types: readonly TextType[];
  /** Whether the value is a list; `repeated` if a single value is not a list, but several are. */
  readonly list: boolean | 'repeated';
  /** The properties of an object; absent for other values. */
  readonly properties?: Readonly<Record<string, TextValue>>;
  /** The values of properties that are not named; absent if there are none. */
  readonly others?: TextValue;
}

/** Receives what cannot be written as text, with what is expected instead. */
type ReportProblem = (place: DocumentNode, expected: string) => void;

const EXPECTED = 'scalars, a list of scalars, or an object of both';

/** Returns the value that a schema describes, and reports the parts of it that no style of OpenAPI can write. */
export function readTextValue(sources: ContractSources, schema: DocumentNode, report: ReportProblem): TextValue {
  const reader = new Reader(sources, report);
  const { scalars, lists, object } = reader.survey(schema, 0);
  if (lists.length > 0 && (object !== undefined || lists.length > 1)) report(schema, EXPECTED);
  if (object !== undefined) return { types: sort(scalars), list: false, ...object };
  return toScalars({ scalars, lists });
}

function toScalars({ scalars, lists: [item] }: Found): TextValue {
  if (item !== undefined) return { types: sort([...item, ...scalars]), list: scalars.size === 0 ? true : 'repeated' };
  // A schema without a type accepts any text.
  return { types: scalars.size === 0 ? ['string'] : sort(scalars), list: false };
}

interface Found {
  readonly scalars: Set<TextType>;
  /** The types of the items of each list. */
  readonly lists: Set<TextType>[];
  object?: Pick<TextValue, 'others' | 'properties'>;
}

class Reader {
  readonly #sources: ContractSources;
  readonly #report: ReportProblem;

  constructor(sources: ContractSources, report: ReportProblem) {
    this.#sources = sources;
    this.#report = report;
  }

  /** @param depth 0 for the value itself, 1 for a property of it, 2 for an item of a list. */
  survey(place: DocumentNode, depth: number): Found {
    const found: Found = { scalars: new Set(), lists: [] };
    const schema = follow(this.#sources, place);
    if (schema === undefined) return found;
    for (const type of typesOf(schema)) this.#add(found, schema, { type, depth });
    const alternatives = ['oneOf', 'anyOf', 'allOf'].flatMap((keyword) => items(child(schema, keyword)));
    for (const alternative of alternatives) merge(found, this.survey(alternative, depth));
    return found;
  }

  #add(found: Found, schema: DocumentNode, { type, depth }: { readonly type: string; readonly depth: number }): void {
    if (isTextType(type)) found.scalars.add(type);
    else if (depth === 2 || (depth === 1 && type === 'object')) this.#report(schema, EXPECTED);
    else if (type === 'array') found.lists.push(this.#surveyItems(schema));
    else if (type === 'object') found.object = this.#surveyObject(schema);
  }

  #surveyItems(schema: DocumentNode): Set<TextType> {
    const places = has(schema, 'items') ? [child(schema, 'items')] : items(child(schema, 'prefixItems'));
    const types = new Set(places.flatMap((place) => [...this.survey(place, 2).scalars]));
    return types.size === 0 ? new Set(['string']) : types;
  }

  #surveyObject(schema: DocumentNode): Pick<TextValue, 'others' | 'properties'> {
    const members = entries(child(schema, 'properties'));
    const properties = members.map(([name, member]) => [name, this.#surveyProperty(member)] as const);
    const rest = child(schema, 'additionalProperties');
    const isOpen = rest.value === true || (rest.value === undefined && members.length === 0);
    const others = typeof rest.value === 'object' || isOpen ? { others: this.#surveyProperty(rest) } : {};
    return { properties: Object.fromEntries(properties), ...others };
  }

  #surveyProperty(place: DocumentNode): TextValue {
    return toScalars(this.survey(place, 1));
  }
}

function merge(found: Found, { scalars, lists, object }: Found): void {
  for (const type of scalars) found.scalars.add(type);
  found.lists.push(...lists);
  if (object === undefined) return;
  const properties = { ...found.object?.properties, ...object.properties };
  found.object = { ...found.object, ...object, properties };
}

function sort(types: Iterable<TextType>): readonly TextType[] {
  const known = new Set(types);
  // Every integer is a number.
  if (known.has('number')) known.delete('integer');
  return TEXT_TYPES.filter((type) => known.has(type));
}

function isTextType(type: string): type is TextType {
  return (TEXT_TYPES as readonly string[]).includes(type);
}

/** Returns the types of a schema, which may follow from its values or its other keywords. */
export function typesOf(schema: DocumentNode): readonly string[] {
  const type = child(schema, 'type');
  const single = findTextField(schema, 'type');
  if (single !== undefined) return [single];
  if (Array.isArray(type.value)) return items(type).map(({ value }) => String(value));
  const values = has(schema, 'const') ? [child(schema, 'const')] : items(child(schema, 'enum'));
  if (values.length > 0) return values.map(({ value }) => typeOfValue(value));
  if (has(schema, 'properties') || has(schema, 'additionalProperties')) return ['object'];
  return has(schema, 'items') ? ['array'] : [];
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
