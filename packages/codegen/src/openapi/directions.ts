/**
 * `readOnly` and `writeOnly`: a schema has another form in requests than in responses.
 *
 * OpenAPI 3.1 leaves it to the server whether a read-only property in a request is an error. It is ignored here, so that a
 * client can send back what it has read: handlers never see it, and it is required in responses only. A write-only property
 * in a response is an error, and is required in requests only.
 */
import type { ContractDocument, SchemaObject } from './contract.js';
import { type DocumentNode, isRecord } from './nodes.js';

/** `any` is for values that may be sent or received, such as the examples of a component. */
export type Direction = 'any' | 'request' | 'response';

type Schemas = Readonly<Record<string, SchemaObject>>;

/** The keyword of a property that is not part of a schema in its direction; validators remove such a property. */
export const ABSENT = 'absent';

const HIDING: Readonly<Record<Direction, readonly string[]>> = {
  any: ['readOnly', 'writeOnly'],
  request: ['readOnly'],
  response: ['writeOnly'],
};

/** Keywords that contain values, not schemas. */
const VALUES = ['const', 'default', 'enum', 'example', 'examples', 'value'];
/** Keywords whose members have names that the contract's author has chosen. */
const NAMED = ['$defs', 'dependentSchemas', 'patternProperties', 'properties'];

/** Returns the form of a schema in a direction. @param rename Returns the names of referenced schemas. */
export function toDirection(
  schema: unknown,
  direction: Direction,
  schemas: Schemas,
  rename: (name: string) => string = (name) => name,
): unknown {
  return new Converter(direction, schemas, rename).convert(schema, new Set());
}

class Converter {
  readonly #direction: Direction;
  readonly #schemas: Schemas;
  readonly #rename: (name: string) => string;

  constructor(direction: Direction, schemas: Schemas, rename: (name: string) => string) {
    this.#direction = direction;
    this.#schemas = schemas;
    this.#rename = rename;
  }

  /** @param inherited The hidden properties of the schema that this one is a part of. */
  convert(schema: unknown, inherited: ReadonlySet<string>): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.convert(part, inherited));
    if (!isRecord(schema)) return schema;
    const hidden = new Set([...inherited, ...listHidden(schema, this.#direction, this.#schemas)]);
    return Object.fromEntries(
      Object.entries(nameAlternatives(schema)).map(([key, value]) => [key, this.#convertKeyword(key, value, hidden)]),
    );
  }

  #convertKeyword(key: string, value: unknown, hidden: ReadonlySet<string>): unknown {
    if (VALUES.includes(key)) return value;
    if (key === '$ref' && typeof value === 'string') return this.#refer(value);
    if (key === 'required' && Array.isArray(value)) return value.filter((name) => !hidden.has(String(name)));
    if (key === 'mapping' && isRecord(value)) {
      return mapValues(value, (target) => (typeof target === 'string' ? this.#refer(target) : target));
    }
    if (key === 'properties' && isRecord(value)) return mapValues(value, (member) => this.#convertProperty(member));
    if (NAMED.includes(key) && isRecord(value)) return mapValues(value, (member) => this.convert(member, new Set()));
    return this.convert(value, ['allOf', 'anyOf', 'oneOf'].includes(key) ? hidden : new Set());
  }

  #convertProperty(schema: unknown): unknown {
    if (this.#direction === 'any' || !isHidden(schema, this.#direction, this.#schemas)) {
      return this.convert(schema, new Set());
    }
    return this.#direction === 'request' ? { [ABSENT]: true } : { [ABSENT]: true, not: {} };
  }

  #refer(text: string): string {
    const at = text.lastIndexOf('/') + 1;
    return text.includes('/schemas/') ? text.slice(0, at) + this.#rename(text.slice(at)) : text;
  }
}

/** Adds the alternatives that a discriminator selects by their names to its mapping, as these names may change. */
function nameAlternatives(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { discriminator } = schema;
  if (!isRecord(discriminator)) return schema;
  const alternatives = ['anyOf', 'oneOf'].flatMap((key) =>
    Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [],
  );
  const refs = alternatives.flatMap((part) => (isRecord(part) && typeof part.$ref === 'string' ? [part.$ref] : []));
  const mapping = isRecord(discriminator.mapping) ? discriminator.mapping : {};
  const unnamed = refs.filter((ref) => !Object.values(mapping).includes(ref));
  if (unnamed.length === 0) return schema;
  const names = unnamed.map((ref) => [ref.split('/').at(-1) ?? '', ref] as const);
  return { ...schema, discriminator: { ...discriminator, mapping: { ...mapping, ...Object.fromEntries(names) } } };
}

function mapValues(members: Readonly<Record<string, unknown>>, map: (member: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]));
}

function resolve(schema: unknown, schemas: Schemas): unknown {
  if (!isRecord(schema) || typeof schema.$ref !== 'string') return undefined;
  return schemas[schema.$ref.split('/').at(-1) ?? ''];
}

/** Returns whether a property has the keyword of a direction, itself or in a schema that it consists of. */
function isHidden(schema: unknown, direction: Direction, schemas: Schemas, seen = new Set<unknown>()): boolean {
  if (!isRecord(schema) || seen.has(schema)) return false;
  seen.add(schema);
  if (HIDING[direction].some((keyword) => schema[keyword] === true)) return true;
  const parts = Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : [];
  return [resolve(schema, schemas), ...parts].some((part) => isHidden(part, direction, schemas, seen));
}

/** Lists the hidden properties of a schema and of those that it consists of. */
function listHidden(schema: unknown, direction: Direction, schemas: Schemas, seen = new Set<unknown>()): string[] {
  if (!isRecord(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const own = Object.entries(properties).filter(([, member]) => isHidden(member, direction, schemas));
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) =>
    Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [],
  );
  return [
    ...own.map(([name]) => name),
    ...[resolve(schema, schemas), ...parts].flatMap((part) => listHidden(part, direction, schemas, seen)),
  ];
}

const HAS_DIRECTION = /"(?:readOnly|writeOnly)":true/;

const DIRECTED = new WeakMap<ContractDocument, boolean>();

/** Returns whether a document has read-only or write-only properties. The document must not change afterwards. */
export function hasDirections(document: ContractDocument): boolean {
  const known = DIRECTED.get(document);
  if (known !== undefined) return known;
  const found = HAS_DIRECTION.test(JSON.stringify(document));
  DIRECTED.set(document, found);
  return found;
}

/**
 * Returns a document whose requests refer to the request form of each schema, named `Note.request`, if that differs from
 * the form in responses. Without read-only and write-only properties, the document is returned as it is.
 */
export function splitDirections(document: ContractDocument): ContractDocument {
  if (!hasDirections(document)) return document;
  const schemas = document.components?.schemas ?? {};
  const split = listDifferent(schemas);
  const names = new Map(split.map((name) => [name, toFreeName(`${name}.request`, schemas)]));
  const convert = (schema: unknown, direction: Direction): unknown =>
    toDirection(schema, direction, schemas, (name) => (direction === 'request' ? names.get(name) : undefined) ?? name);
  const components = Object.entries(schemas).flatMap(([name, schema]) => {
    const request = names.get(name);
    const forms: [string, unknown][] = [[name, convert(schema, 'response')]];
    return request === undefined ? forms : [...forms, [request, convert(schema, 'request')] as [string, unknown]];
  });
  const converted = convertParts(document, 'any', convert) as ContractDocument;
  return {
    ...converted,
    components: { ...converted.components, schemas: Object.fromEntries(components) as Schemas },
  };
}

function toFreeName(name: string, schemas: Schemas): string {
  return Object.hasOwn(schemas, name) ? toFreeName(`${name}_`, schemas) : name;
}

/** Lists the schemas that have such properties, or refer to a schema that has. */
function listDifferent(schemas: Schemas): readonly string[] {
  const texts = new Map(Object.entries(schemas).map(([name, schema]) => [name, JSON.stringify(schema)]));
  const found = new Set([...texts].filter(([, text]) => HAS_DIRECTION.test(text)).map(([name]) => name));
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const [name, text] of texts) {
      if ([...found].some((other) => text.includes(`/schemas/${other}"`))) found.add(name);
    }
  }
  return [...texts.keys()].filter((name) => found.has(name));
}

const DIRECTIONS = new Map<string, Direction>([
  ['parameters', 'request'],
  ['requestBody', 'request'],
  ['requestBodies', 'request'],
  ['responses', 'response'],
  ['headers', 'response'],
]);

/** A callback or a webhook of the server is a request of its own. */
const FLIPPED: Readonly<Record<Direction, Direction>> = { any: 'any', request: 'response', response: 'request' };

/** Returns the direction of a parameter, header or media type by its place. */
export function directionOf({ path }: DocumentNode): Direction {
  const direction = path.map((key) => DIRECTIONS.get(key)).find((found) => found !== undefined) ?? 'any';
  return path.some((key) => key === 'callbacks' || key === 'webhooks') ? FLIPPED[direction] : direction;
}

type Convert = (schema: unknown, direction: Direction) => unknown;

function convertParts(value: unknown, direction: Direction, convert: Convert, isFlipped = false): unknown {
  if (Array.isArray(value)) return value.map((part) => convertParts(part, direction, convert, isFlipped));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      if (VALUES.includes(key) || key === 'schemas') return [key, part];
      if (key === 'schema' || key === 'x-event') return [key, convert(part, direction)];
      const own = direction === 'any' ? DIRECTIONS.get(key) : undefined;
      const next = own === undefined ? direction : isFlipped ? FLIPPED[own] : own;
      const flips = isFlipped || key === 'callbacks' || key === 'webhooks';
      return [key, convertParts(part, next, convert, flips)];
    }),
  );
}

/** Returns whether a schema has properties that are absent in its direction, itself or in the schemas it refers to. */
export function hasAbsent(schema: unknown, schemas: Schemas): boolean {
  // The set grows while it is read.
  const parts = new Set<unknown>([schema]);
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue;
    if (isRecord(part) && part[ABSENT] === true) return true;
    for (const member of [...(Object.values(part) as unknown[]), resolve(part, schemas)]) parts.add(member);
  }
  return false;
}

/** Returns a document without the properties that are absent in their direction, for the writer of types. */
export function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, part]) => !isRecord(part) || part[ABSENT] !== true);
  return Object.fromEntries(kept.map(([key, part]) => [key, VALUES.includes(key) ? part : withoutAbsent(part)]));
}
