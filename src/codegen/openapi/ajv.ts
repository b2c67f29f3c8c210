import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Creates an ajv instance for OpenAPI 3.1 schemas. Keywords and formats are checked by `check-structure.ts`. */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, ...options });
  addFormats.default(ajv);
  return ajv;
}

/** Keywords that document a schema and do not affect validation. */
const ANNOTATIONS = ['$comment', 'deprecated', 'description', 'example', 'examples', 'title'];

/** Returns a schema without annotations and extensions, and without defaults unless they are to be filled in. */
export function stripAnnotations(schema: unknown, { defaults }: { readonly defaults: boolean }): unknown {
  const dropped = new Set(defaults ? ANNOTATIONS : [...ANNOTATIONS, 'default']);
  return keepRules(schema, dropped);
}

/** Keywords that limit the size of a value, and those that lead to nested schemas. */
const LIMITS = ['$ref', 'allOf', 'items', 'maxItems', 'maxLength', 'maximum', 'properties', 'type'];

/** Returns the part of a schema that limits sizes. Missing members and malformed values pass it. */
export function pickSizeLimits(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(pickSizeLimits);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => LIMITS.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]: [string, unknown]) => {
      if (keyword !== 'properties' || typeof value !== 'object' || value === null)
        return [keyword, pickSizeLimits(value)];
      return [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, member]) => [name, pickSizeLimits(member)])),
      ];
    }),
  );
}

/** Keywords whose members have names chosen by the contract's author: a property may be called "title". */
const NAMED = new Set(['patternProperties', 'properties', 'schemas']);
/** Keywords that contain values, not schemas. */
const VALUES = new Set(['const', 'default', 'enum']);

function keepRules(schema: unknown, dropped: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => keepRules(item, dropped));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !dropped.has(keyword) && !keyword.startsWith('x-'));
  return Object.fromEntries(
    kept.map(([keyword, value]: [string, unknown]) => {
      if (VALUES.has(keyword)) return [keyword, value];
      return [keyword, NAMED.has(keyword) ? keepMembers(value, dropped) : keepRules(value, dropped)];
    }),
  );
}

function keepMembers(members: unknown, dropped: ReadonlySet<string>): unknown {
  if (typeof members !== 'object' || members === null) return members;
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, keepRules(schema, dropped)]));
}
