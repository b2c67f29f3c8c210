import type { RecordField, RecordTable, RelationField } from '@trellis/core/record-types';
import type { DateArguments } from '@trellis/site/query/dates';
import type {
  GroupQuery,
  QueryContext,
  RecordConnection,
  RecordFilter,
  RecordGroup,
  RecordQuery,
  RecordSort,
} from '@trellis/site/query/record-queries';
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import type { ResolverBudget, SiteContext } from './context.js';
import { getSelection, valuesPerRecord } from './selection.js';

type Resolver = GraphQLFieldResolver<Record<string, unknown>, SiteContext, never>;
export type Resolvers = Record<string, Record<string, Resolver>>;

/** Creates the resolvers that follow from the record types: queries, connections, dates and relations. */
export function createRecordResolvers(tables: Readonly<Record<string, RecordTable>>): Resolvers {
  const resolvers: Resolvers = { Query: {} };
  for (const table of Object.values(tables)) {
    Object.assign(resolvers.Query ?? {}, queriesOf(table));
    resolvers[`${table.kind}Connection`] = connectionResolvers as unknown as Record<string, Resolver>;
    resolvers[`${table.kind}GroupConnection`] = groupResolvers as unknown as Record<string, Resolver>;
    addFields(resolvers, table.kind, table.fields);
  }
  return resolvers;
}

interface AllArguments {
  readonly filter?: RecordFilter | null;
  readonly sort?: RecordSort | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
}

const queriesOf = ({ kind, single, all }: RecordTable) => ({
  [single]: (_: unknown, filter: RecordFilter, context: SiteContext, info: GraphQLResolveInfo) => {
    const { records, computed, budget } = context;
    const query = { filter, computed, meter: budget };
    return read(() => records.find(kind, query, getSelection(kind, RECORD, info)), context);
  },

  [all]: (_: unknown, args: AllArguments, { records, computed, budget }: SiteContext, info: GraphQLResolveInfo) =>
    records.page(kind, toQuery(args, { computed, meter: budget }), getSelection(kind, CONNECTION, info)),
});

/** The path from a query of one record to the record: the field itself. */
const RECORD = [[]];

/** The paths from a connection to its records. */
const CONNECTION = [
  ['nodes'],
  ['edges', 'node'],
  ['edges', 'next'],
  ['edges', 'previous'],
  ['group', 'nodes'],
  ['group', 'edges', 'node'],
  ['group', 'edges', 'next'],
  ['group', 'edges', 'previous'],
];

function toQuery({ sort, ...args }: AllArguments, asker: QueryContext): RecordQuery {
  if (!sort?.fields) return { ...args, ...asker };
  return { ...args, ...asker, sort: { ...sort, fields: sort.fields.map((field) => field && toPath(field)) } };
}

/** Converts a member of a fields enum, which has three underscores instead of dots. */
const toPath = (member: string): string => member.replaceAll('___', '.');

const connectionResolvers = {
  totalCount: (connection: RecordConnection, _: unknown, context: SiteContext) =>
    read(() => connection.totalCount, context),

  pageInfo: (connection: RecordConnection, _: unknown, context: SiteContext) =>
    read(() => connection.pageInfo, context),

  nodes: (connection: RecordConnection, _: unknown, context: SiteContext, info: GraphQLResolveInfo) =>
    read(() => spend(connection.nodes, valuesPerRecord(info), context.budget), context),

  edges: (connection: RecordConnection, _: unknown, context: SiteContext, info: GraphQLResolveInfo) =>
    read(() => spend(connection.edges, valuesPerRecord(info), context.budget), context),

  distinct: (connection: RecordConnection, { field }: { field: string }, context: SiteContext) =>
    read(() => spend(connection.distinct({ field: toPath(field) }), 1, context.budget), context),

  group: (connection: RecordConnection, query: GroupQuery, context: SiteContext, info: GraphQLResolveInfo) =>
    read(
      () => spend(connection.group({ ...query, field: toPath(query.field) }), valuesPerRecord(info), context.budget),
      context,
    ),
};

/** Reads fairly with respect to other requests, and again once computed values that the query needs are loaded. */
const read = <T>(getValue: () => T, { records, budget }: SiteContext): T | Promise<T> =>
  records.withComputedValues(() => budget.workInTurn(getValue));

/** These do not wait for other requests: the first group that is resolved reads the records of all groups. */
const groupResolvers = {
  nodes: (group: RecordGroup, _: unknown, { records, budget }: SiteContext, info: GraphQLResolveInfo) =>
    records.withComputedValues(() =>
      spend(
        budget.work(() => group.nodes),
        valuesPerRecord(info),
        budget,
      ),
    ),

  edges: (group: RecordGroup, _: unknown, { records, budget }: SiteContext, info: GraphQLResolveInfo) =>
    records.withComputedValues(() =>
      spend(
        budget.work(() => group.edges),
        valuesPerRecord(info),
        budget,
      ),
    ),
};

/** Counts the values of a list in the response, then returns the list. Throws when the limit is exceeded. */
function spend<T>(list: readonly T[], width: number, budget: ResolverBudget): readonly T[] {
  budget.spend(list.length * width);
  return list;
}

function addFields(resolvers: Resolvers, type: string, fields: readonly RecordField[]): void {
  const own = (resolvers[type] ??= {});
  for (const field of fields) {
    if (field.kind === 'relation') own[field.name] = relationResolver(field);
    if (field.kind === 'scalar' && field.dateArguments) own[field.name] = dateResolver(field.name);
    if (field.kind === 'object' || field.kind === 'computed') addFields(resolvers, field.type, field.fields);
  }
}

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
