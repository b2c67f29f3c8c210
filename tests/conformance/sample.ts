/** Makes values that match schemas, for requests and mocked answers. */

import fc from 'fast-check';

/** A bundled document of OpenAPI, or a part of it. */
export type Json = Readonly<Record<string, unknown>>;

/** The member of a document that names the properties to leave out: `readOnly` in requests, `writeOnly` in responses. */
export const HIDDEN = 'x-hidden';

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deeper values are omitted where they are optional, as schemas may refer to themselves. */
const MAX_DEPTH = 6;

/** Returns a value that matches a schema: its example if it has one, otherwise the simplest. */
export function sample(document: Json, schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return {};
  const { $ref, ...own } = schema;
  if (typeof $ref === 'string') return sample(document, merge([resolve(document, $ref), own]), depth);
  if (own.const !== undefined) return own.const;
  if (own.default !== undefined) return own.default;
  if (Array.isArray(own.enum)) return own.enum[0];
  if (Array.isArray(own.allOf)) return sample(document, flatten(document, own), depth);
  for (const word of ['oneOf', 'anyOf'] as const) {
    const [first] = Array.isArray(own[word]) ? (own[word] as unknown[]) : [];
    if (first === undefined) continue;
    const { [word]: _alternatives, discriminator, ...rest } = own;
    return withChoice(sample(document, flatten(document, { ...rest, allOf: [first] }), depth), discriminator, first);
  }
  return sampleType(document, own, depth);
}

/** Sets the property of a discriminator to the value of an alternative. */
function withChoice(value: unknown, discriminator: unknown, alternative: unknown): unknown {
  if (!isObject(value) || !isObject(discriminator) || !isObject(alternative)) return value;
  const ref = String(alternative.$ref);
  const mapped = Object.entries(isObject(discriminator.mapping) ? discriminator.mapping : {});
  const name = mapped.find(([, target]) => target === ref)?.[0] ?? ref.split('/').at(-1);
  return { ...value, [String(discriminator.propertyName)]: name };
}

export function resolve(document: Json, ref: string): Json {
  const keys = ref
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = keys.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document);
  return isObject(found) ? found : {};
}

/** Merges the members of allOf into one schema. */
function flatten(document: Json, schema: Json): Json {
  const { allOf, $ref, ...own } = schema;
  const parts = [
    typeof $ref === 'string' ? resolve(document, $ref) : {},
    ...(Array.isArray(allOf) ? (allOf as unknown[]) : []),
  ];
  const flat = parts.map((part) => (isObject(part) ? part : {}));
  return merge([...flat.map((part) => ('allOf' in part || '$ref' in part ? flatten(document, part) : part)), own]);
}

function merge(parts: readonly Json[]): Json {
  const merged = Object.assign({}, ...parts) as Record<string, unknown>;
  const properties = parts.map(({ properties: map }) => map).filter(isObject);
  const required = parts.flatMap(({ required: list }) => (Array.isArray(list) ? (list as unknown[]) : []));
  if (properties.length > 0) merged.properties = Object.assign({}, ...properties) as Json;
  if (required.length > 0) merged.required = required;
  return merged;
}

const TEXTS: Readonly<Record<string, string>> = {
  date: '2026-01-02',
  'date-time': '2026-01-02T03:04:05Z',
  duration: 'P1D',
  email: 'a@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  time: '03:04:05Z',
  uri: 'https://example.com/',
  uuid: '0191f3a2-7c1e-7d9a-b3c4-2f6a0e5d8b17',
};

function sampleType(document: Json, schema: Json, depth: number): unknown {
  const [example] = [schema.example, ...(Array.isArray(schema.examples) ? (schema.examples as unknown[]) : [])].filter(
    (value) => value !== undefined,
  );
  const types = Array.isArray(schema.type) ? (schema.type as unknown[]) : [schema.type];
  switch (types[0] ?? (isObject(schema.properties) ? 'object' : undefined)) {
    case 'object':
      return sampleObject(document, schema, depth);
    case 'array':
      return sampleArray(document, schema, depth);
    case 'integer':
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return typeof schema.pattern === 'string' && typeof example === 'string' ? example : sampleText(schema);
    default:
      return 'text';
  }
}

function sampleObject(document: Json, schema: Json, depth: number): Json {
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const visible = properties.filter(([, part]) => !isHidden(document, part));
  const kept = visible.filter(([name]) => required.includes(name) || depth < MAX_DEPTH / 2);
  const missing = required.filter((name) => !properties.some(([known]) => known === name));
  const found = kept.map(([name, part]) => [name, sample(document, part, depth + 1)]);
  return Object.fromEntries([...found, ...missing.map((name) => [name, 'text'])]) as Json;
}

function isHidden(document: Json, schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const target = typeof schema.$ref === 'string' ? resolve(document, schema.$ref) : {};
  return [schema, target].some((part) => part[String(document[HIDDEN])] === true);
}

function sampleArray(document: Json, schema: Json, depth: number): unknown[] {
  const least = Number(schema.minItems ?? 0);
  const tuple = Array.isArray(schema.prefixItems) ? (schema.prefixItems as unknown[]) : [];
  if (tuple.length > 0) return tuple.map((part) => sample(document, part, depth + 1));
  const count = depth < MAX_DEPTH / 2 ? Math.max(least, 1) : least;
  return Array.from({ length: count }, () => sample(document, schema.items ?? {}, depth + 1));
}

function sampleNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf = 1 }: Json): number {
  if (minimum !== undefined) return Number(minimum);
  if (exclusiveMinimum !== undefined) return Number(exclusiveMinimum) + Number(multipleOf);
  if (maximum !== undefined) return Math.min(1, Number(maximum));
  if (exclusiveMaximum !== undefined) return Math.min(1, Number(exclusiveMaximum) - 1);
  return Number(multipleOf);
}

function sampleText({ format, pattern, minLength = 0, maxLength = 100 }: Json): string {
  if (typeof pattern === 'string') return sampleMatch(pattern, Number(minLength), Number(maxLength));
  const text = TEXTS[String(format)] ?? 'text';
  return text.padEnd(Number(minLength), 'x').slice(0, Number(maxLength));
}

/** The texts by pattern and lengths, as a search takes a second at most. */
const matches = new Map<string, string>();

function sampleMatch(pattern: string, minLength: number, maxLength: number): string {
  const key = `${minLength} ${maxLength} ${pattern}`;
  const known = matches.get(key);
  if (known !== undefined) return known;
  const fitting = fc
    .stringMatching(new RegExp(pattern, 'u'))
    .filter(({ length }) => length >= minLength && length <= maxLength);
  const match = fc.sample(fitting, { numRuns: 1, seed: 1 })[0] ?? '';
  matches.set(key, match);
  return match;
}
