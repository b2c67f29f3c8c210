import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import type { Random } from './random.js';

/** An enum value, which is a name in a document and text in variables. */
class EnumMember {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  toJSON(): string {
    return this.name;
  }
}

/** Texts with a meaning for filters, dates, colours or images, and some without any. */
const TEXTS = [
  ...['', 'a', 'index', 'md', 'images/sunflower.jpg', 'Recipe', 'File', '/'],
  ...['*', '**/*.md', '{a,b}*', '[a-z]?*', '!(*.md)', '+(a|b).jpg', '/a/', '/^[a-f]+$/i', '/(/', '/\\d{2,3}/'],
  ...['YYYY-MM-DD', 'dddd, MMMM Do', 'de', 'xx-YY', 'days', 'constructor', '__proto__', 'toString'],
  ...['2026-05-01', '2026-05-01T10:00:00.000Z', 'yesterday', '#ff8800', 'rgba(1, 2, 3, 0.5)', 'nocolour'],
  ...['💥', '\u202e', 'é', 'e\u0301', '\u0000', '\ud800', "'; drop table file; --", 'x'.repeat(500)],
];

const INTEGERS = [
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 64, 75, 80, 90, 100, 400, 800],
  ...[-1, 2_147_483_647, -2_147_483_648],
];
const FLOATS = [0, 0.5, 1, 1.5, -0.25, 10, 1e-7, 1e21, -1e300];

/** Filters are nested as deeply as records. */
const MAX_DEPTH = 4;

/** Generates a value of an input type, which the server mostly accepts. */
export function generateInput(type: GraphQLInputType, random: Random, depth = 0): unknown {
  if (!isNonNullType(type) && random.chance(0.03)) return null;
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    // GraphQL coerces a single value to a list.
    if (random.chance(0.2)) return generateInput(nullable.ofType, random, depth);
    return Array.from({ length: random.below(4) }, () => generateInput(nullable.ofType, random, depth));
  }
  if (isEnumType(nullable)) return new EnumMember(random.pick(nullable.getValues()).name);
  if (isInputObjectType(nullable)) return generateObject(nullable, random, depth);
  switch (String(nullable)) {
    case 'Int':
      return random.pick(INTEGERS);
    case 'Float':
      return random.pick(FLOATS);
    case 'Boolean':
      return random.chance(0.5);
    default:
      return random.pick(TEXTS);
  }
}

function generateObject(type: GraphQLInputObjectType, random: Random, depth: number): object {
  const fields = Object.values(type.getFields());
  const chosen = new Set(fields.filter((field) => isNonNullType(field.type) && field.defaultValue === undefined));
  const count = depth < MAX_DEPTH ? 1 + random.below(2) : 0;
  for (let left = count; left > 0; left -= 1) chosen.add(random.pick(fields));
  return Object.fromEntries(
    [...chosen].map(({ name, type: inner }) => [name, generateInput(inner, random, depth + 1)]),
  );
}

/** Formats a value in the syntax of documents. */
export function toLiteral(value: unknown): string {
  if (value instanceof EnumMember) return value.name;
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${name}: ${toLiteral(inner)}`)
      .join(', ')} }`;
  }
  return JSON.stringify(value);
}
