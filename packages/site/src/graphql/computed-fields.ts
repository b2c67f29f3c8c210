import { AppError } from '@trellis/core/errors';
import type { ComputedField, RecordField } from '@trellis/core/record-types';
import {
  getArgumentValues,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { MarkdownLinks, MarkdownSource } from '../markdown/links.js';
import type { MarkdownRenderer } from '../markdown/markdown-renderer.js';
import { cutText, EXCERPT_END, type MarkdownHeading, type Rendering } from '../markdown/rendering.js';
import type { ComputedValues, SiteRecord } from '../query/record-queries.js';
import type { RecordTables } from '../records/record-schema.js';
import type { RecordContext } from './context.js';

type Resolver = GraphQLFieldResolver<unknown, unknown, object>;

/** Functions by type and field. */
export type FieldFunctions = Readonly<Record<string, Readonly<Record<string, Resolver>>>>;

interface ComputedFieldsOptions {
  readonly schema: GraphQLSchema;
  readonly tables: RecordTables;
  /** The hand-written resolvers, before the arguments of dates are applied to their results. */
  readonly resolvers: FieldFunctions;
  /** The functions that replace resolvers here. */
  readonly values: FieldFunctions;
}

/** A computed field of a record type, with all that a call of its resolver needs. */
interface Computation {
  readonly field: ComputedField;
  readonly resolve: Resolver;
  /** The default arguments. */
  readonly args: object;
  readonly info: GraphQLResolveInfo;
  /** Whether a call has returned a promise. */
  isAsynchronous: boolean;
}

/**
 * Creates the function that returns the values of computed fields for one request: for each record, the result of the
 * resolver with default arguments. The store keeps the values until a record changes.
 */
export function createComputedFields(options: ComputedFieldsOptions): (context: RecordContext) => ComputedValues {
  const computations = new Map(listComputations(options));
  const made = new WeakMap<RecordContext, ComputedValues>();
  return (context) => {
    const known = made.get(context);
    if (known) return known;
    const values = createComputedValues(computations, context);
    made.set(context, values);
    return values;
  };
}

function listComputations({ schema, tables, resolvers, values }: ComputedFieldsOptions): [string, Computation][] {
  return Object.values(tables).flatMap(({ kind, fields }) =>
    fields.flatMap((field): [string, Computation][] => {
      const type = schema.getType(kind);
      const definition = isObjectType(type) ? type.getFields()[field.name] : undefined;
      const resolve =
        findFunction(values, kind, field.name) ??
        findFunction(resolvers, kind, field.name) ??
        (field.kind === 'computed' && field.markdown !== undefined
          ? (createMarkdownResolver(field) as Resolver)
          : undefined);
      if (field.kind !== 'computed' || field.needsArguments || !isObjectType(type) || !definition || !resolve)
        return [];
      const info = createInfo(schema, type, definition);
      const args = getArgumentValues(definition, NODE(field.name));
      return [[`${kind}.${field.path}`, { field, resolve, args, info, isAsynchronous: false }]];
    }),
  );
}

/** Ignores inherited properties, such as `constructor`. */
function findFunction(functions: FieldFunctions, kind: string, field: string): Resolver | undefined {
  const members = functions[kind];
  return members && Object.hasOwn(members, field) ? members[field] : undefined;
}

const NODE = (name: string) => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } }) as const;

const OPERATION: OperationDefinitionNode = {
  kind: Kind.OPERATION_DEFINITION,
  operation: OperationTypeNode.QUERY,
  selectionSet: { kind: Kind.SELECTION_SET, selections: [] },
};

/** Creates the information about a request that selects the field of one record. */
const createInfo = (
  schema: GraphQLSchema,
  parentType: GraphQLObjectType,
  { name, type }: GraphQLField<unknown, unknown>,
): GraphQLResolveInfo => ({
  schema,
  parentType,
  fieldName: name,
  returnType: type,
  fieldNodes: [NODE(name)],
  fragments: {},
  variableValues: {},
  rootValue: undefined,
  operation: OPERATION,
  path: { prev: undefined, key: name, typename: parentType.name },
});

function createComputedValues(computations: ReadonlyMap<string, Computation>, context: RecordContext): ComputedValues {
  const compute = ({ field, resolve, args, info }: Computation, record: SiteRecord): unknown =>
    complete(resolve(record, args, context, info), field.fields, { context, info });
  return {
    find(kind, field, record) {
      const computation = computations.get(`${kind}.${field}`);
      if (!computation) return null;
      if (computation.isAsynchronous) return undefined;
      const value = compute(computation, record);
      if (!(value instanceof Promise)) return value ?? null;
      // The value is computed again in a batch, so no query waits for this promise.
      value.catch(() => undefined);
      computation.isAsynchronous = true;
      return undefined;
    },

    async load(kind, field, records) {
      const computation = computations.get(`${kind}.${field}`);
      if (!computation) return [];
      return Promise.all(records.map(async (record) => orMissing(async () => compute(computation, record))));
    },
  };
}

/** A value that can't be computed is missing. One that is unavailable ends the query, as later queries reuse missing values. */
async function orMissing(getValue: () => Promise<unknown>): Promise<unknown> {
  try {
    return await getValue();
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable') return undefined;
    throw error;
  }
}

interface Completion {
  readonly context: RecordContext;
  readonly info: GraphQLResolveInfo;
}

/**
 * Returns a result with all members of its objects, as the execution of a query would: a member that is a function is
 * called. The result is a promise only if a part of it is.
 */
function complete(value: unknown, fields: readonly RecordField[], completion: Completion): unknown {
  if (isPromise(value)) return value.then((settled) => complete(settled, fields, completion));
  if (Array.isArray(value)) return gather(value.map((item) => complete(item, fields, completion)));
  if (fields.length === 0 || typeof value !== 'object' || value === null) return value;
  const members = fields.map((field) => completeMember(value as SiteRecord, field, completion));
  const toObject = (list: readonly unknown[]) =>
    Object.fromEntries(fields.map(({ name }, index) => [name, list[index] ?? null]));
  const gathered = gather(members);
  return gathered instanceof Promise ? gathered.then(toObject) : toObject(gathered);
}

function completeMember(object: SiteRecord, field: RecordField, completion: Completion): unknown {
  const { context, info } = completion;
  const member = object[field.name];
  const value: unknown = typeof member === 'function' ? member.call(object, {}, context, info) : member;
  return complete(value, 'fields' in field ? field.fields : [], completion);
}

const gather = (list: readonly unknown[]): readonly unknown[] | Promise<readonly unknown[]> =>
  list.some((item) => item instanceof Promise) ? Promise.all(list) : list;

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/** Renders the texts of fields with `@markdown`. */
export type MarkdownTexts = Pick<MarkdownLinks, 'resolve' | 'toMarkdown'> &
  Pick<MarkdownRenderer, 'excerpt' | 'render'>;

type MarkdownResolver = GraphQLFieldResolver<Record<string, unknown>, RecordContext>;

/** Creates the resolver of a field with `@markdown`. */
export const createMarkdownResolver =
  ({ markdown = '' }: Pick<ComputedField, 'markdown'>): MarkdownResolver =>
  (record) => {
    const text = record[markdown];
    return typeof text === 'string'
      ? new MarkdownText({ text, fileId: (record.parent ?? null) as string | null })
      : null;
  };

/** Words per minute; the same as in Gatsby. */
const READING_SPEED = 265;

const MAX_EXCERPT = 10_000;

/** A value of the type `Markdown`. graphql-js calls the members that a query selects. */
class MarkdownText {
  readonly #source: MarkdownSource;
  #rendering: Promise<Rendering> | undefined;

  constructor(source: MarkdownSource) {
    this.#source = source;
  }

  async html(_args: unknown, context: RecordContext): Promise<string> {
    const { html } = await this.#render(context);
    return textsOf(context).resolve(html, this.#source, checkOf(context));
  }

  async excerpt({ length, format }: ExcerptArguments, context: RecordContext): Promise<string> {
    assertRange('length', length, MAX_EXCERPT);
    if (format === 'PLAIN') {
      const text = withoutCode(await this.#renderBeginning(context)).replaceAll(/\s+/gu, ' ');
      const cut = cutText(text, length);
      return cut.length < text.length ? `${cut}…` : cut;
    }
    const texts = textsOf(context);
    const text = texts.toMarkdown(this.#source);
    const pieces = await texts.excerpt(text, { length, format }, checkOf(context));
    return texts.resolve(pieces, this.#source, checkOf(context));
  }

  async headings(
    { depth }: { readonly depth?: number | null },
    context: RecordContext,
  ): Promise<readonly MarkdownHeading[]> {
    if (depth != null) assertRange('depth', depth, 6);
    const { headings } = await this.#render(context);
    return depth == null ? headings : headings.filter((heading) => heading.depth === depth);
  }

  async tableOfContents({ maxDepth }: { readonly maxDepth: number }, context: RecordContext): Promise<string> {
    assertRange('maxDepth', maxDepth, 6);
    const { headings } = await this.#render(context);
    return printContents(headings.filter(({ depth }) => depth <= maxDepth));
  }

  async plainText(_args: unknown, context: RecordContext): Promise<string> {
    return (await this.#render(context)).plainText;
  }

  async timeToRead(_args: unknown, context: RecordContext): Promise<number> {
    const { wordCount } = await this.#render(context);
    return Math.max(1, Math.round(wordCount.words / READING_SPEED));
  }

  async wordCount(_args: unknown, context: RecordContext): Promise<Rendering['wordCount']> {
    return (await this.#render(context)).wordCount;
  }

  /** Renders the text above the mark for the end of an excerpt, or all of it. */
  async #renderBeginning(context: RecordContext): Promise<Rendering> {
    const texts = textsOf(context);
    const text = texts.toMarkdown(this.#source);
    if (!EXCERPT_END.test(text)) return this.#render(context);
    const [beginning] = await texts.excerpt(text, { length: text.length, format: 'MARKDOWN' }, checkOf(context));
    return texts.render(typeof beginning === 'string' ? beginning : '', checkOf(context));
  }

  #render(context: RecordContext): Promise<Rendering> {
    const texts = textsOf(context);
    return (this.#rendering ??= texts.render(texts.toMarkdown(this.#source), checkOf(context)));
  }
}

function withoutCode({ plainText, codeBlocks }: Rendering): string {
  let prose = '';
  let end = 0;
  for (const [start, next] of codeBlocks) {
    prose += plainText.slice(end, start);
    end = next;
  }
  return (prose + plainText.slice(end)).trim();
}

interface ExcerptArguments {
  readonly length: number;
  readonly format: 'HTML' | 'MARKDOWN' | 'PLAIN';
}

function textsOf({ markdown }: RecordContext): MarkdownTexts {
  if (!markdown) throw new Error('Expected the context of a query to have the member "markdown".');
  return markdown;
}

const checkOf =
  ({ budget }: RecordContext): (() => void) =>
  () =>
    budget.check();

function assertRange(name: string, value: number, most: number): void {
  if (value >= 1 && value <= most) return;
  throw new AppError('invalid_input', `Expected ${name} to be from 1 to ${most}; received ${value}.`, { field: name });
}

/** Prints links to headings as nested lists. A heading that skips a level is nested one level only. */
export function printContents(headings: readonly MarkdownHeading[]): string {
  const [first, ...rest] = headings;
  if (!first) return '';
  const sections: { readonly heading: MarkdownHeading; readonly inner: MarkdownHeading[] }[] = [
    { heading: first, inner: [] },
  ];
  for (const heading of rest) {
    const last = sections.at(-1);
    if (last && heading.depth > last.heading.depth) last.inner.push(heading);
    else sections.push({ heading, inner: [] });
  }
  const items = sections.map(
    ({ heading, inner }) =>
      `<li><a href="#${escapeHtml(heading.id)}">${escapeHtml(heading.value)}</a>${printContents(inner)}</li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
