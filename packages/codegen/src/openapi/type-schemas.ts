/**
 * Rewrites schemas whose types openapi-typescript gets wrong, to others that the same values match. It writes:
 *
 * - `anyOf` and `oneOf` beside other keywords as alternatives to those, although they restrict them further,
 * - an object without described properties as an object that cannot have any,
 * - `const: null` as an unknown value, and nothing at all for `allOf` with `true` or `false`,
 * - `additionalProperties` and `patternProperties` with the types of the described properties beside them, as the
 *   compiler demands that an index signature has the types of all properties,
 * - a list whose items may be the same list as a type that refers to itself, which the compiler rejects.
 */
import { pascal, toIdentifier } from '../output.js';
import { NAME_MAPS } from './bundle.js';
import { isRecord } from './nodes.js';

type Schema = Record<string, unknown>;

/** The member of a schema of a list whose type is declared by itself: the name of the type. */
export const LIST_NAME = 'x-list-name';

/** Returns a document of OpenAPI with the rewritten schemas. */
export function toTypeSchemas(document: object): object {
  const copy = rewrite(document, false) as { readonly components?: { readonly schemas?: Record<string, unknown> } };
  nameRecursiveLists(copy.components?.schemas ?? {});
  return copy;
}

/** Keywords that contain values, not schemas. */
const VALUES = ['const', 'default', 'enum', 'example', 'examples'];

function rewrite(value: unknown, isNameMap: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, false));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    !isNameMap && VALUES.includes(key) ? member : rewrite(member, !isNameMap && NAME_MAPS.includes(key)),
  ]);
  const copy = Object.fromEntries(members) as Schema;
  return isNameMap ? copy : rewriteSchema(copy);
}

function rewriteSchema(schema: Schema): Schema {
  if (Array.isArray(schema.allOf) && schema.allOf.some((part) => typeof part === 'boolean'))
    return rewriteSchema({ ...schema, allOf: schema.allOf.map(toSchemaObject) });
  if (schema.const === null) return { ...schema, type: 'null' };
  if (isFreeObject(schema)) return { ...schema, additionalProperties: true };
  return combineAlternatives(widenOthers(schema));
}

function widenOthers(schema: Schema): Schema {
  const { properties, additionalProperties, patternProperties } = schema;
  const isTyped = hasMembers(additionalProperties) || (hasMembers(patternProperties) && additionalProperties !== true);
  if (!isTyped || !isRecord(properties) || !hasMembers(properties)) return schema;
  const others = hasMembers(additionalProperties) ? [additionalProperties] : [];
  return { ...schema, additionalProperties: { anyOf: [...others, ...Object.values(properties).map(toSchemaObject)] } };
}

/** openapi-typescript fails for `true` and `false` in `allOf`. */
const toSchemaObject = (part: unknown): unknown => (part === true ? {} : part === false ? { not: {} } : part);

/** Keywords that give an object a type of its own. Beside the others, such as `required`, it may have any property. */
const OBJECT_KEYWORDS = ['$ref', '$defs', 'additionalProperties', 'patternProperties', 'enum', 'const'];
const COMPOSITIONS = ['allOf', 'anyOf', 'oneOf'];

function isFreeObject(schema: Schema): boolean {
  const { type, properties, unevaluatedProperties, maxProperties } = schema;
  if (!has(type, 'object')) return false;
  if ([...OBJECT_KEYWORDS, ...COMPOSITIONS].some((key) => schema[key] !== undefined)) return false;
  return !hasMembers(properties) && unevaluatedProperties !== false && maxProperties !== 0;
}

/** Moves alternatives into `allOf`, if the schema has a type beside them. */
function combineAlternatives(schema: Schema): Schema {
  const { allOf = [], anyOf, oneOf, ...rest } = schema;
  const alternatives = [{ anyOf }, { oneOf }].filter((member) => Object.values(member).some(Array.isArray));
  const hasType = ['type', 'properties', 'additionalProperties', 'patternProperties'].some((key) => key in rest);
  const count = alternatives.length + (hasType ? 1 : 0) + (Array.isArray(allOf) ? allOf.length : 0);
  if (!Array.isArray(allOf) || alternatives.length === 0 || count < 2 || 'discriminator' in rest)
    return withoutOpenParts(schema);
  return withoutOpenParts({ ...rest, allOf: [...(allOf as unknown[]), ...alternatives.map(withoutOpenAlternatives)] });
}

/** Removes the type of the parts of `allOf` that only say that the value is an object: other parts describe it. */
function withoutOpenParts(schema: Schema): Schema {
  return Array.isArray(schema.allOf) ? { ...schema, allOf: schema.allOf.map(withoutOpenType) } : schema;
}

const withoutOpenAlternatives = (member: Schema): Schema =>
  Object.fromEntries(
    Object.entries(member).map(([key, parts]) => [key, Array.isArray(parts) ? parts.map(withoutOpenType) : parts]),
  );

function withoutOpenType(part: unknown): unknown {
  if (!isRecord(part) || part.additionalProperties !== true || hasMembers(part.properties)) return part;
  const { type: _type, additionalProperties: _any, ...rest } = part;
  return rest;
}

const hasMembers = (properties: unknown): boolean => isRecord(properties) && Object.keys(properties).length > 0;

/** Gives a name to each list that contains itself without an object between. Changes the schemas. */
function nameRecursiveLists(schemas: Readonly<Record<string, unknown>>): void {
  const taken = new Set<string>();
  for (const [component, schema] of Object.entries(schemas)) {
    for (const list of listLists(schema)) {
      if (!reaches(schemas, [list.items, list.prefixItems], component)) continue;
      const base = toIdentifier(`${pascal(component)}List`);
      let name = base;
      for (let count = 2; taken.has(name); count += 1) name = `${base}${count}`;
      taken.add(name);
      list[LIST_NAME] = name;
    }
  }
}

/** Lists the schemas of lists that a schema consists of, outermost first. */
function listLists(schema: unknown): Schema[] {
  if (!isRecord(schema)) return [];
  if (has(schema.type, 'array') && isRecord(schema.items)) return [schema];
  return COMPOSITIONS.flatMap((key) => (Array.isArray(schema[key]) ? schema[key].flatMap(listLists) : []));
}

const has = (type: unknown, name: string): boolean => type === name || (Array.isArray(type) && type.includes(name));

/** Returns whether the compiler needs the type of a component for the type of a schema. It does not for properties. */
function reaches(schemas: Readonly<Record<string, unknown>>, start: readonly unknown[], component: string): boolean {
  const seen = new Set<string>();
  const queue = [...start];
  while (queue.length > 0) {
    const schema = queue.pop();
    if (!isRecord(schema)) continue;
    if (typeof schema.$ref === 'string') {
      const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
      if (name === component) return true;
      if (!seen.has(name)) queue.push(schemas[name]);
      seen.add(name);
    }
    for (const key of [...COMPOSITIONS, 'prefixItems'])
      if (Array.isArray(schema[key])) queue.push(...(schema[key] as unknown[]));
    queue.push(schema.items);
  }
  return false;
}
