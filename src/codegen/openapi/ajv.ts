import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** An ajv for the schemas of OpenAPI 3.1, whose keywords and formats are checked elsewhere. */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, ...options });
  addFormats.default(ajv);
  return ajv;
}

/** Keywords that tell people something and decide nothing. */
const ANNOTATIONS = ['$comment', 'deprecated', 'description', 'example', 'examples', 'title'];

/** What of a schema decides: its annotations are left out, and its defaults when they are not to be filled in. */
export function toRules(schema: unknown, { defaults }: { readonly defaults: boolean }): unknown {
  const dropped = new Set(defaults ? ANNOTATIONS : [...ANNOTATIONS, 'default']);
  return keepRules(schema, dropped);
}

/** What says how large a value may be, and where it stands. */
const LIMITS = ['$ref', 'allOf', 'items', 'maxItems', 'maxLength', 'maximum', 'properties', 'type'];

/** What of a schema bounds the size of a value; what it lacks or how it is written is nobody's business. */
export function toLimits(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toLimits);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => LIMITS.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]: [string, unknown]) => {
      if (keyword !== 'properties' || typeof value !== 'object' || value === null) return [keyword, toLimits(value)];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toLimits(member)]))];
    }),
  );
}

/** Keywords whose members are named by the contract's author: a property may be called "title". */
const NAMED = new Set(['patternProperties', 'properties', 'schemas']);
/** Keywords that hold values, not schemas. */
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
