import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { generateInput, toLiteral } from './input-values.js';
import type { Random } from './random.js';

export interface GeneratedDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

type Field = GraphQLField<unknown, unknown>;

const MAX_DEPTH = 6;

/** Fields that read pixels, which takes a thousand times as long as any other field. */
const PIXELS = new Set(['base64', 'tracedSVG']);

/** Generates a valid query with arguments, variables, aliases, fragments and directives. */
export function generateDocument(schema: GraphQLSchema, random: Random): GeneratedDocument {
  return new Writer(schema, random).write();
}

class Writer {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  readonly #definitions: string[] = [];
  readonly #values: Record<string, unknown> = {};
  readonly #fragments: string[] = [];
  #names = 0;

  constructor(schema: GraphQLSchema, random: Random) {
    this.#schema = schema;
    this.#random = random;
  }

  write(): GeneratedDocument {
    const random = this.#random;
    const root = this.#schema.getQueryType()!;
    const selection = this.#selection(root, 0);
    const name = random.chance(0.3) ? 'Generated' : '';
    const variables = this.#definitions.length === 0 ? '' : `(${this.#definitions.join(', ')})`;
    const head = name === '' && variables === '' && random.chance(0.5) ? '' : `query ${name}${variables} `;
    const query = [`${head}${selection}`, ...this.#fragments].join('\n');
    return { query, variables: this.#values, operationName: name !== '' && random.chance(0.5) ? name : undefined };
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    const random = this.#random;
    const parts = this.#fields(type, depth);
    if (isAbstractType(type) && random.chance(0.7)) {
      const concrete = random.pick(this.#schema.getPossibleTypes(type));
      parts.push(`... on ${concrete.name}${this.#directives()} ${this.#selection(concrete, depth + 1)}`);
    }
    if (isObjectType(type) && depth > 0 && random.chance(0.08)) parts.push(this.#fragment(type, depth));
    if (random.chance(0.1)) parts.push('__typename');
    // A selection is never empty.
    return `{ ${parts.length === 0 ? '__typename' : parts.join(' ')} }`;
  }

  #fields(type: GraphQLCompositeType, depth: number): string[] {
    const random = this.#random;
    const known: Field[] = 'getFields' in type ? Object.values(type.getFields()) : [];
    const fields = depth === 0 && random.chance(0.06) ? [SchemaMetaFieldDef, TypeMetaFieldDef] : known;
    const count = depth === 0 ? 1 + random.below(2) : 1 + random.below(4);
    const written: string[] = [];
    for (let left = count; left > 0; left -= 1) {
      const field = random.pick(fields);
      const isTooDeep = depth >= MAX_DEPTH && isCompositeType(getNamedType(field.type));
      if (isTooDeep || (PIXELS.has(field.name) && random.chance(0.9))) continue;
      written.push(this.#field(field, depth, written.length > 0));
    }
    return written;
  }

  #field(field: Field, depth: number, needsAlias: boolean): string {
    const random = this.#random;
    // Two fields with the same name and different arguments would conflict.
    const isAliased = needsAlias || (depth > 0 && field.args.length > 0) || random.chance(0.1);
    const alias = isAliased ? `a${(this.#names += 1)}: ` : '';
    const type = getNamedType(field.type);
    const selection = isCompositeType(type) ? ` ${this.#selection(type, depth + 1)}` : '';
    return `${alias}${field.name}${this.#arguments(field.args)}${this.#directives()}${selection}`;
  }

  #arguments(args: readonly GraphQLArgument[]): string {
    const probability = Math.min(0.4, 3 / Math.max(args.length, 1));
    const chosen = args.filter((arg) => isRequiredArgument(arg) || this.#random.chance(probability));
    const written = chosen.map((arg) => `${arg.name}: ${this.#argument(arg)}`);
    return written.length === 0 ? '' : `(${written.join(', ')})`;
  }

  #argument({ type, name }: GraphQLArgument): string {
    const value = name === 'name' && String(type) === 'String!' ? this.#typeName() : generateInput(type, this.#random);
    if (!this.#random.chance(0.25)) return toLiteral(value);
    const variable = `v${(this.#names += 1)}`;
    this.#definitions.push(`$${variable}: ${String(type)}`);
    this.#values[variable] = value;
    return `$${variable}`;
  }

  #typeName(): string {
    return this.#random.pick(Object.keys(this.#schema.getTypeMap()));
  }

  #fragment(type: GraphQLCompositeType, depth: number): string {
    const name = `F${(this.#names += 1)}`;
    this.#fragments.push(`fragment ${name} on ${type.name} ${this.#selection(type, depth + 1)}`);
    return `...${name}${this.#directives()}`;
  }

  #directives(): string {
    const random = this.#random;
    if (!random.chance(0.06)) return '';
    return ` @${random.pick(['include', 'skip'])}(if: ${String(random.chance(0.5))})`;
  }
}

const FRAGMENTS_OF_TEXT = [
  '{',
  '}',
  '(',
  ')',
  ':',
  '$',
  '...',
  '@',
  '!',
  '"',
  '"""',
  '#',
  'on',
  'null',
  'nothing',
  '\\',
];

const HEADS = [
  'mutation ',
  'subscription ',
  'query A { __typename } ',
  'fragment X on File { ...X } ',
  'type T { a: Int } ',
];

/** Corrupts one place in a document or its variables, which may still be valid by chance. */
export function corruptDocument(document: GeneratedDocument, random: Random): GeneratedDocument {
  const { query, variables } = document;
  const at = random.below(query.length + 1);
  const length = 1 + random.below(6);
  const names = Object.keys(variables);
  switch (random.below(8)) {
    case 0:
      return { ...document, query: query.slice(0, at) + query.slice(at + length) };
    case 1:
      return { ...document, query: query.slice(0, at) + random.pick(FRAGMENTS_OF_TEXT) + query.slice(at) };
    case 2:
      return { ...document, query: query.slice(0, at) };
    case 3:
      return { ...document, query: random.pick(HEADS) + query };
    case 4:
      return { ...document, query: query.replace(/\b\w+\b(?=[^\w]*$)/, 'unknown') };
    case 5:
      return { ...document, operationName: 'Unknown' };
    case 6:
      return { ...document, variables: Object.fromEntries(names.map((name) => [name, random.pick(MISFITS)])) };
    default:
      return {
        ...document,
        query: query.replace(/: [^ ,)]+/, () => `: ${random.pick(['1', '"x"', '[]', '{}', 'NO', '$no'])}`),
      };
  }
}

const MISFITS: readonly unknown[] = [null, 1.5, 'text', [], {}, [[1]], { eq: {} }, true, 1e300];
