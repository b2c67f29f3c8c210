import type { SchemaObject } from '@trellis/codegen/openapi/contract';
import fc from 'fast-check';
import { SeenValue } from './seen-values.js';

type Keywords = Exclude<SchemaObject, boolean>;

export interface SchemaSource {
  /** The schemas that references point to, by name. */
  readonly schemas: Readonly<Record<string, SchemaObject>>;
  /** Values for schemas that can't be generated, such as encrypted files, by name. */
  readonly hints: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  /** The OpenAPI tag whose earlier responses provide values of the same name. */
  readonly tag: string;
}

/** The longest text generated to reach a `maxLength`, in characters. */
const MAX_BOUNDARY = 3_000;

/** Deeper schemas are assumed to be recursive. */
const MAX_DEPTH = 8;

/**
 * Generates values that match a schema: ordinary values, boundary values, and values of the same property in earlier
 * responses. Patterns and `allOf` are matched on a best-effort basis.
 */
export function generateValues(source: SchemaSource, schema: SchemaObject, name = ''): fc.Arbitrary<unknown> {
  return generate(schema, { source, name, depth: 0 });
}

interface Context {
  readonly source: SchemaSource;
  readonly name: string;
  readonly depth: number;
}

function generate(schema: SchemaObject, context: Context): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean' || context.depth > MAX_DEPTH) return fc.jsonValue({ maxDepth: 2 });
  const deeper = { ...context, depth: context.depth + 1 };
  if (schema.$ref !== undefined) return generateReferenced(schema.$ref, deeper);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const alternatives = (schema.oneOf ?? schema.anyOf) as readonly SchemaObject[] | undefined;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((one) => generate(one, deeper)));
  if (schema.allOf !== undefined) {
    const parts = (schema.allOf as readonly SchemaObject[]).map((part) => generate(part, deeper));
    return fc.tuple(...parts).map((values) => Object.assign({}, ...values) as unknown);
  }
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => generateType(type, schema, deeper)));
}

function generateReferenced(ref: string, context: Context): fc.Arbitrary<unknown> {
  const name = ref.split('/').at(-1) ?? '';
  const { schemas, hints } = context.source;
  return hints[name] ?? generate(schemas[name] ?? true, context);
}

function generateType(type: string, schema: Keywords, context: Context): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return generateArray(schema, context);
    case 'object':
      return generateObject(schema, context);
    case 'integer':
      return withSeen(generateInteger(schema), context);
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    default:
      return withSeen(generateText(schema), context);
  }
}

function withSeen(generated: fc.Arbitrary<unknown>, { source, name }: Context): fc.Arbitrary<unknown> {
  if (name === '') return generated;
  const seen = fc.tuple(fc.nat(), generated).map(([pick, otherwise]) => {
    return new SeenValue({ tag: source.tag, name, pick, otherwise });
  });
  return fc.oneof({ weight: 3, arbitrary: seen }, { weight: 2, arbitrary: generated });
}

function generateInteger({ minimum, maximum }: Keywords): fc.Arbitrary<number> {
  const min = Number(minimum ?? -1_000);
  const max = Number(maximum ?? Math.max(min, 1_000_000));
  return fc.oneof(
    fc.constantFrom(min, max),
    fc.integer({ min, max: Math.min(max, min + 100) }),
    fc.integer({ min, max }),
  );
}

const HOUR_MS = 3_600_000;

/** Generates times around now, because most fields must be in the future or in the past. */
const times = fc
  .integer({ min: -400 * 24, max: 400 * 24 })
  .map((hours) => new Date(Date.now() + hours * HOUR_MS).toISOString());

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': times,
  date: times.map((text) => text.slice(0, 10)),
  uuid: fc.uuid(),
  uri: fc.webPath().map((path) => `http://127.0.0.1:2${path}`),
};

function generateText(schema: Keywords): fc.Arbitrary<string> {
  const { format, pattern, examples } = schema as { format?: string; pattern?: string; examples?: readonly string[] };
  const minLength = Number(schema.minLength ?? 0);
  const maxLength = Number(schema.maxLength ?? 200);
  const boundary = Math.min(maxLength, MAX_BOUNDARY);
  const known = format === undefined ? undefined : FORMATS[format];
  const matching = pattern === undefined ? undefined : findMatching(pattern);
  const sized = fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 20)), unit: 'grapheme' });
  return fc.oneof(
    { weight: 4, arbitrary: known ?? matching?.map((text) => text.slice(0, maxLength)) ?? sized },
    {
      weight: 2,
      arbitrary: fc.string({
        minLength: Math.max(minLength, 1),
        maxLength: Math.max(minLength, Math.min(maxLength, 12)),
        unit: LETTER,
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom('a'.repeat(minLength), 'a'.repeat(boundary), ...(examples ?? [])) },
  );
}

/** Characters that most patterns for names allow. */
const LETTER = fc.integer({ min: 0, max: 35 }).map((digit) => digit.toString(36));

/** fast-check does not support look-around assertions, so the other generators handle such patterns. */
function findMatching(pattern: string): fc.Arbitrary<string> | undefined {
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' });
  } catch {
    return undefined;
  }
}

function generateArray(schema: Keywords, context: Context): fc.Arbitrary<unknown> {
  const minLength = Number(schema.minItems ?? 0);
  const maxLength = Math.max(minLength, Math.min(Number(schema.maxItems ?? 3), 3));
  const items = generate(schema.items ?? true, context);
  if (schema.uniqueItems !== true) return fc.array(items, { minLength, maxLength });
  return fc.uniqueArray(items, { minLength, maxLength, comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b) });
}

function generateObject(schema: Keywords, context: Context): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties } = schema;
  const required = new Set((schema.required as readonly string[] | undefined) ?? []);
  const fields = Object.entries(properties).map(([name, property]) => [name, generate(property, { ...context, name })]);
  const record = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: Object.keys(properties).filter((name) => required.has(name)),
  });
  if (additionalProperties === undefined || typeof additionalProperties === 'boolean') return record;
  const values = generate(additionalProperties as SchemaObject, context);
  return fc
    .tuple(fc.dictionary(fc.string({ maxLength: 8 }), values, { maxKeys: 3 }), record)
    .map(([others, own]) => ({ ...others, ...own }));
}
