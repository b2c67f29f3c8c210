/**
 * Media types, and the request bodies that are forms: which properties of their schemas are fields, and which are files. At
 * the end, the values that travel as text: parameters, and the fields of forms.
 */
import type { ContractDocument, EncodingMap, MediaContent, SchemaObject, TextFormat } from './contract.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  items,
  toNode,
} from './nodes.js';

export const URLENCODED = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';

/** A declared media type, such as `text/plain; charset=utf-8` or the range `image/*`. */
interface MediaType {
  /** The type without parameters, in lower case. */
  readonly essence: string;
  readonly isRange: boolean;
  /** The text after the essence; empty for none. */
  readonly parameters: string;
}

const PATTERN = /^((?:\*|[\w!#$&^.+-]+)\/(?:\*(?:\+json)?|[\w!#$&^.+-]+))\s*((?:;\s*[^;]+)*)$/;

/** Parses a media type or a media range. */
export function parseMediaType(text: string): MediaType | undefined {
  const [, essence = '', parameters = ''] = PATTERN.exec(text) ?? [];
  if (essence === '' || (essence.startsWith('*') && essence !== '*/*')) return undefined;
  return { essence: essence.toLowerCase(), isRange: essence.includes('*'), parameters };
}

/** Returns whether a media type has no charset but UTF-8, the only one of the server. Other parameters have no effect. */
export function isUtf8({ parameters }: MediaType): boolean {
  const charsets = [...parameters.matchAll(/;\s*charset\s*=\s*"?([^";]*)/gi)];
  return charsets.every(([, charset = '']) => /^utf-?8$/i.test(charset.trim()));
}

/** Returns the essence of a media type of JSON, or of a range of such types, which ASP.NET writes as `application/*+json`. */
export function findJsonType(text: string): string | undefined {
  const essence = parseMediaType(text)?.essence ?? '';
  return /^(?:application|text)\/json$|\+json$/.test(essence) ? essence : undefined;
}

export interface FormContract {
  readonly fields: readonly FormField[];
  readonly files: readonly FormFile[];
}

export interface FormField extends TextValue, TextFormat {
  readonly name: string;
  readonly required: boolean;
}

export interface FormFile {
  readonly name: string;
  readonly required: boolean;
  readonly list: boolean;
  /** The media types and ranges; empty for any. */
  readonly contentTypes: readonly string[];
  readonly maxBytes: number | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
}

/** A property of a form, with its entry in `encoding`. */
export interface FormMember {
  readonly name: string;
  readonly required: boolean;
  readonly schema: DocumentNode;
  readonly encoding: DocumentNode;
}

/** Lists the properties of a form's schema, including those of the schemas that it is composed of. */
export function listFormMembers(sources: ContractSources, media: DocumentNode): readonly FormMember[] {
  const found = new Map<string, FormMember>();
  const required = new Set<string>();
  const survey = (place: DocumentNode): void => {
    const schema = follow(sources, place);
    if (schema === undefined) return;
    for (const { value } of items(child(schema, 'required'))) required.add(String(value));
    for (const [name, member] of entries(child(schema, 'properties'))) {
      found.set(name, { name, required: false, schema: member, encoding: child(child(media, 'encoding'), name) });
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) items(child(schema, keyword)).forEach(survey);
  };
  survey(child(media, 'schema'));
  return [...found.values()].map((member) => ({ ...member, required: required.has(member.name) }));
}

/** Returns whether a property of a `multipart/form-data` schema is a file: bytes, or a list of bytes. */
export function isFile(
  sources: ContractSources,
  { schema: place, encoding }: Pick<FormMember, 'encoding' | 'schema'>,
): boolean {
  if (follow(sources, place) === undefined) return false;
  const schema = followNonNull(sources, place);
  const types = typesOf(schema);
  const [type, ...others] = types.filter((one) => one !== 'null');
  if (type === undefined && types.length > 0) return false;
  if (type === 'array') return isFile(sources, { schema: child(schema, 'items'), encoding });
  if (others.length > 0 || (type !== undefined && type !== 'string')) return false;
  const contentType = findTextField(encoding, 'contentType');
  if (contentType !== undefined) return !contentType.split(',').every((text) => isTextMediaType(text.trim()));
  if (findTextField(schema, 'format') === 'binary') return true;
  if (has(schema, 'contentMediaType')) return !has(schema, 'contentEncoding');
  // A schema that says nothing stands for bytes.
  return type === undefined && !['oneOf', 'anyOf', 'allOf'].some((keyword) => has(schema, keyword));
}

/** Returns the schema at a place, or its alternative to null: forms of browsers leave a file out, instead of sending null. */
function followNonNull(sources: ContractSources, place: DocumentNode): DocumentNode {
  const followed = (node: DocumentNode): DocumentNode => follow(sources, node) ?? node;
  const schema = followed(place);
  const alternatives = ['anyOf', 'oneOf'].flatMap((keyword) => items(child(schema, keyword))).map(followed);
  const [only, ...others] = alternatives.filter((alternative) => typesOf(alternative).join() !== 'null');
  return only !== undefined && others.length === 0 && alternatives.length > 1 ? only : schema;
}

function isTextMediaType(type: string): boolean {
  return type.startsWith('text/') || type === URLENCODED || findJsonType(type) !== undefined;
}

/** Returns whether a field is written as JSON: objects are, and lists of objects, unless `encoding` says otherwise. */
export function isJsonField(
  sources: ContractSources,
  { schema, encoding }: Pick<FormMember, 'encoding' | 'schema'>,
): boolean {
  if (hasStyle(encoding)) return false;
  const contentType = findTextField(encoding, 'contentType');
  if (contentType !== undefined) return findJsonType(contentType) !== undefined;
  let isText = true;
  const { properties } = readTextValue(sources, schema, () => (isText = false));
  return properties !== undefined || !isText;
}

/** Returns whether an encoding has a style, which takes precedence over its content type. */
export function hasStyle(encoding: DocumentNode): boolean {
  return ['style', 'explode', 'allowReserved'].some((field) => has(encoding, field));
}

/** Returns the fields and files of a form. */
export function toFormContract(
  document: ContractDocument,
  { kind, schema }: MediaContent,
  encoding: EncodingMap,
): FormContract {
  const { sources, place } = toNode(document, { schema, encoding });
  const members = listFormMembers(sources, place);
  const isFileMember = (member: FormMember): boolean => kind === 'multipart' && isFile(sources, member);
  return {
    fields: members.filter((member) => !isFileMember(member)).map((member) => toField(sources, member)),
    files: members.filter(isFileMember).map((member) => toFile(sources, member)),
  };
}

function toField(sources: ContractSources, member: FormMember): FormField {
  const { name, required, schema, encoding } = member;
  if (isJsonField(sources, member)) {
    const list = typesOf(followNonNull(sources, schema)).includes('array');
    return { name, required, types: ['string'], list, isJson: true };
  }
  const { style, explode = style === undefined || style === 'form' } = (encoding.value ?? {}) as EncodingMap[string];
  return {
    name,
    required,
    ...readTextValue(sources, schema, () => undefined),
    ...(style === undefined || style === 'form' ? {} : { style }),
    ...(style === 'deepObject' || explode === (style === undefined || style === 'form') ? {} : { explode }),
  };
}

function toFile(sources: ContractSources, { name, required, schema: place, encoding }: FormMember): FormFile {
  const schema = followNonNull(sources, place);
  const list = typesOf(schema).includes('array');
  const item = list ? followNonNull(sources, child(schema, 'items')) : schema;
  const described = findTextField(item, 'contentMediaType');
  // OpenAPI 3.1 describes a file of any type in this way, which browsers send with its own type.
  const ofItem = described === 'application/octet-stream' ? undefined : described;
  const types = findTextField(encoding, 'contentType') ?? ofItem;
  const count = (node: DocumentNode, keyword: string): number | undefined => toCount(child(node, keyword));
  return {
    name,
    required,
    list,
    contentTypes: types === undefined ? [] : types.split(',').map((text) => text.trim().toLowerCase()),
    maxBytes: toCount(findLimit(sources, { schema, encoding })),
    minItems: list ? count(schema, 'minItems') : undefined,
    maxItems: list ? count(schema, 'maxItems') : undefined,
  };
}

const toCount = (place: DocumentNode | undefined): number | undefined =>
  typeof place?.value === 'number' ? place.value : undefined;

/** 1 MiB, the limit of bodies without `x-max-bytes`. */
export const DEFAULT_MAX_BYTES = 1024 ** 2;

/** Returns the place of the limit of a file, or of each in a list, or of a body of text or bytes. */
export function findLimit(
  sources: ContractSources,
  { schema: place, encoding }: { readonly schema: DocumentNode; readonly encoding?: DocumentNode },
): DocumentNode | undefined {
  const schema = followNonNull(sources, place);
  // Only a form has files in a list. The bytes of a list in XML are not those of an item.
  const isList = encoding !== undefined && has(schema, 'items');
  const item = isList ? followNonNull(sources, child(schema, 'items')) : schema;
  const limits = [child(item, 'x-max-bytes'), child(item, 'maxLength')];
  if (encoding !== undefined) limits.unshift(child(encoding, 'x-max-bytes'));
  return limits.find((limit) => toCount(limit) !== undefined);
}

/** Returns the schema of the fields of a form. Files are counted and measured while they arrive. */
export function withoutFiles(
  document: ContractDocument,
  schema: SchemaObject | undefined,
  names: readonly string[],
): SchemaObject | undefined {
  if (names.length === 0 || typeof schema !== 'object') return schema;
  const { sources, place } = toNode(document, schema);
  const { $ref: _, ...own } = schema;
  const target = { ...(follow(sources, place)?.value as typeof own), ...own };
  const { properties = {}, required, allOf } = target as typeof own & { required?: string[]; allOf?: SchemaObject[] };
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name));
  return {
    ...target,
    properties: Object.fromEntries(kept),
    ...(required === undefined ? {} : { required: required.filter((name) => !names.includes(name)) }),
    ...(allOf === undefined ? {} : { allOf: allOf.map((part) => withoutFiles(document, part, names)) }),
  };
}

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
  // A list that may be null, and nothing else, is a list: no text stands for its null.
  const others = scalars.size === 1 && scalars.has('null') ? [] : [...scalars];
  if (item !== undefined) return { types: sort([...item, ...others]), list: others.length === 0 ? true : 'repeated' };
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
