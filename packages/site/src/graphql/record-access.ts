import type { RecordField, RecordTable, RelationField } from '@trellis/core/record-types';
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import type { DateArguments } from '../query/dates.js';
import type {
  GroupQuery,
  QueryContext,
  RecordConnection,
  RecordEdge,
  RecordFilter,
  RecordGroup,
  RecordQuery,
  RecordSort,
} from '../query/record-queries.js';
import { listSearchedFields } from '../records/record-schema.js';
import { createMarkdownResolver } from './computed-fields.js';
import type { RecordContext } from './context.js';
import { CONNECTION, getBinding, getSelection, RECORD, spend, toSelectedColumn, valuesPerRecord } from './selection.js';

/** The request that a resolver answers: the last argument of every resolver. */
type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'returnType' | 'schema' | 'variableValues'>;

type KindOf<ByKind> = Extract<keyof ByKind, string>;

/**
 * The records of the site for hand-written resolvers. The arguments `filter`, `sort`, `skip` and `limit` are those of the
 * derived queries; a path in `sort` may also have dots.
 *
 * The records of `find`, `list` and `page` have only the fields that the request selects, for the result of the resolver.
 * A resolver that looks at values itself reads them with `values`.
 *
 * @template ByKind The stored records by record type: `RecordsByKind` of the generated `records.ts`.
 */
export class RecordAccess<ByKind extends object> {
  readonly #context: RecordContext;

  constructor(context: RecordContext) {
    this.#context = context;
  }

  /** Returns the first match in creation order. */
  find<Kind extends KindOf<ByKind>>(
    kind: Kind,
    { filter }: Pick<AllArguments, 'filter'>,
    info: Info,
  ): ByKind[Kind] | null | Promise<ByKind[Kind] | null> {
    const context = this.#context;
    const query = { filter, ...askerOf(context, info) };
    return read(() => {
      const found = context.records.find(kind, query, getSelection(kind, RECORD, info));
      return (found ?? null) as ByKind[Kind] | null;
    }, context);
  }

  /** Returns the matches in order. */
  list<Kind extends KindOf<ByKind>>(
    kind: Kind,
    query: AllArguments,
    info: Info,
  ): readonly ByKind[Kind][] | Promise<readonly ByKind[Kind][]> {
    const context = this.#context;
    const page = context.records.page(kind, toQuery(query, askerOf(context, info)), getSelection(kind, RECORD, info));
    return read(
      () => spend(page.nodes, valuesPerRecord(info), context.budget) as unknown as readonly ByKind[Kind][],
      context,
    );
  }

  /** Returns the matches as a connection, such as `RecipeConnection`, with counts, groups and pages. */
  page(kind: KindOf<ByKind>, query: AllArguments, info: Info): RecordConnection {
    const { records } = this.#context;
    return records.page(kind, toQuery(query, askerOf(this.#context, info)), getSelection(kind, CONNECTION, info));
  }

  /** Returns columns of the matches in their stored form: Booleans are 0 or 1, and lists are JSON text. */
  values<Kind extends KindOf<ByKind>, Column extends KindOf<ByKind[Kind]>>(
    kind: Kind,
    columns: readonly Column[],
    query: AllArguments,
    info: Pick<Info, 'schema'>,
  ): readonly Pick<ByKind[Kind], Column>[] | Promise<readonly Pick<ByKind[Kind], Column>[]> {
    const context = this.#context;
    const selection = { values: columns.map(toSelectedColumn), relations: [] };
    const page = context.records.page(kind, toQuery(query, askerOf(context, info)), selection);
    return read(() => page.nodes as unknown as readonly Pick<ByKind[Kind], Column>[], context);
  }
}

type Resolver = GraphQLFieldResolver<Record<string, unknown>, RecordContext, never>;
export type Resolvers = Record<string, Record<string, Resolver>>;

/** Creates the resolvers that follow from the record types: queries, connections, dates and relations. */
export function createRecordResolvers(tables: Readonly<Record<string, RecordTable>>): Resolvers {
  const resolvers: Resolvers = { Query: {} };
  for (const table of Object.values(tables)) {
    Object.assign(resolvers.Query ?? {}, queriesOf(table));
    resolvers[`${table.kind}Connection`] = connectionResolvers as unknown as Record<string, Resolver>;
    resolvers[`${table.kind}GroupConnection`] = groupResolvers as unknown as Record<string, Resolver>;
    if (listSearchedFields(table).length > 0)
      resolvers[`${table.kind}Edge`] = matchResolvers as unknown as Record<string, Resolver>;
    addFields(resolvers, table.kind, table.fields);
  }
  return resolvers;
}

interface AllArguments {
  readonly filter?: RecordFilter | null;
  readonly sort?: RecordSort | null;
  readonly search?: string | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
}

const queriesOf = ({ kind, single, all }: RecordTable) => ({
  [single]: (_: unknown, filter: RecordFilter, context: RecordContext, info: GraphQLResolveInfo) => {
    const query = { filter, ...askerOf(context, info) };
    return read(() => context.records.find(kind, query, getSelection(kind, RECORD, info)), context);
  },

  [all]: (_: unknown, args: AllArguments, context: RecordContext, info: GraphQLResolveInfo) =>
    context.records.page(kind, toQuery(args, askerOf(context, info)), getSelection(kind, CONNECTION, info)),
});

/** Returns the parts of a query that depend on the request. */
const askerOf = (context: RecordContext, { schema }: Pick<GraphQLResolveInfo, 'schema'>): QueryContext => ({
  computed: () => getBinding(schema).computedFor(context),
  meter: context.budget,
});

/** Converts the arguments of a query for many records. */
function toQuery({ sort, ...args }: AllArguments, asker: QueryContext): RecordQuery {
  if (!sort?.fields) return { ...args, ...asker };
  return { ...args, ...asker, sort: { ...sort, fields: sort.fields.map((field) => field && toPath(field)) } };
}

/** Converts a member of a fields enum, which has three underscores instead of dots. */
const toPath = (member: string): string => member.replaceAll('___', '.');

const connectionResolvers = {
  totalCount: (connection: RecordConnection, _: unknown, context: RecordContext) =>
    read(() => connection.totalCount, context),

  pageInfo: (connection: RecordConnection, _: unknown, context: RecordContext) =>
    read(() => connection.pageInfo, context),

  nodes: (connection: RecordConnection, _: unknown, context: RecordContext, info: GraphQLResolveInfo) =>
    read(() => spend(connection.nodes, valuesPerRecord(info), context.budget), context),

  edges: (connection: RecordConnection, _: unknown, context: RecordContext, info: GraphQLResolveInfo) =>
    read(() => spend(connection.edges, valuesPerRecord(info), context.budget), context),

  distinct: (connection: RecordConnection, { field }: { field: string }, context: RecordContext) =>
    read(() => spend(connection.distinct({ field: toPath(field) }), 1, context.budget), context),

  group: (connection: RecordConnection, query: GroupQuery, context: RecordContext, info: GraphQLResolveInfo) =>
    read(
      () => spend(connection.group({ ...query, field: toPath(query.field) }), valuesPerRecord(info), context.budget),
      context,
    ),
};

const matchResolvers = {
  score: ({ match }: RecordEdge, _: unknown, context: RecordContext) => read(() => match?.score ?? null, context),

  snippet: ({ match }: RecordEdge, { words }: { readonly words: number }, context: RecordContext) =>
    read(() => match?.snippet(words) ?? null, context),
};

/** Reads fairly with respect to other requests, and again once computed values that the query needs are loaded. */
const read = <T>(getValue: () => T, { records, budget }: RecordContext): T | Promise<T> =>
  records.withComputedValues(() => budget.workInTurn(getValue));

/** These do not wait for other requests: the first group that is resolved reads the records of all groups. */
const groupResolvers = {
  nodes: (group: RecordGroup, _: unknown, { records, budget }: RecordContext, info: GraphQLResolveInfo) =>
    records.withComputedValues(() =>
      spend(
        budget.work(() => group.nodes),
        valuesPerRecord(info),
        budget,
      ),
    ),

  edges: (group: RecordGroup, _: unknown, { records, budget }: RecordContext, info: GraphQLResolveInfo) =>
    records.withComputedValues(() =>
      spend(
        budget.work(() => group.edges),
        valuesPerRecord(info),
        budget,
      ),
    ),
};

function addFields(resolvers: Resolvers, type: string, fields: readonly RecordField[]): void {
  const own = (resolvers[type] ??= {});
  for (const field of fields) {
    if (field.kind === 'relation') own[field.name] = relationResolver(field);
    if (field.kind === 'computed' && field.markdown !== undefined)
      own[field.name] = createMarkdownResolver(field) as Resolver;
    if (field.kind === 'scalar' && field.dateArguments) own[field.name] = dateResolver(field.name);
    if (field.path === 'internal.contentDigest') own[field.name] = digestResolver as unknown as Resolver;
    if (field.kind === 'object' || field.kind === 'computed') addFields(resolvers, field.type, field.fields);
  }
}

const digestResolver = (
  { contentDigest }: { readonly contentDigest: string },
  _args: unknown,
  { readDigest, budget }: RecordContext,
): Promise<string> | string => readDigest?.(contentDigest, budget.waitMs) ?? contentDigest;

function relationResolver({ name, list }: RelationField): Resolver {
  const key = `~${name}`;
  if (!list) return (record) => record[key];
  // An operation that exceeded a limit has no data in its response, so it can finish quickly.
  return (record, _args, { budget }, info) => {
    const related = record[key] as readonly unknown[] | null;
    return budget.isOver ? [] : related && spend(related, valuesPerRecord(info), budget);
  };
}

const dateResolver =
  (name: string): Resolver =>
  (record, args: DateArguments, { formatDate, budget }) => {
    // Formatting takes about twenty times as long as everything else about a value, so it counts as work.
    if (Object.keys(args).length === 0) return formatDate(record[name], args);
    return budget.isOver ? null : budget.work(() => formatDate(record[name], args));
  };
