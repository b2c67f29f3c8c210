import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import type { RecordConnection } from '../site/connection.js';
import type { DateArguments } from '../site/dates.js';
import type { Field, RecordTable, RelationField } from '../site/fields.js';
import type { GroupQuery, RecordGroup } from '../site/groups.js';
import type { Asker, RecordQuery } from '../site/record-queries.js';
import type { Sort } from '../site/compile-sort.js';
import type { Filter } from '../site/compile-filter.js';
import type { Budget, SiteContext } from './context.js';
import { selectionOf } from './selection.js';
import { widthOf } from './width.js';

type Resolver = GraphQLFieldResolver<Record<string, unknown>, SiteContext, never>;
export type Resolvers = Record<string, Record<string, Resolver>>;

/** The resolvers of everything that a record kind brings: its queries, connection, dates and relations. */
export function recordResolvers(tables: Readonly<Record<string, RecordTable>>): Resolvers {
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
  readonly filter?: Filter | null;
  readonly sort?: Sort | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
}

const queriesOf = ({ kind, single, all }: RecordTable) => ({
  [single]: (_: unknown, filter: Filter, context: SiteContext, info: GraphQLResolveInfo) => {
    const { records, computed, budget } = context;
    const query = { filter, computed, meter: budget };
    return answer(() => records.find(kind, query, selectionOf(kind, RECORD, info)), context);
  },

  [all]: (_: unknown, args: AllArguments, { records, computed, budget }: SiteContext, info: GraphQLResolveInfo) =>
    records.page(kind, toQuery(args, { computed, meter: budget }), selectionOf(kind, CONNECTION, info)),
});

const RECORD = [[]];

/** Where a connection holds records. */
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

function toQuery({ sort, ...args }: AllArguments, asker: Asker): RecordQuery {
  if (!sort?.fields) return { ...args, ...asker };
  return { ...args, ...asker, sort: { ...sort, fields: sort.fields.map((field) => field && toPath(field)) } };
}

/** Members of a fields enum spell the dots of a path with three underscores. */
const toPath = (member: string): string => member.replaceAll('___', '.');

const connectionResolvers = {
  totalCount: (connection: RecordConnection, _: unknown, context: SiteContext) =>
    answer(() => connection.totalCount, context),

  pageInfo: (connection: RecordConnection, _: unknown, context: SiteContext) =>
    answer(() => connection.pageInfo, context),

  nodes: (connection: RecordConnection, _: unknown, context: SiteContext, info: GraphQLResolveInfo) =>
    answer(() => spent(connection.nodes, widthOf(info), context.budget), context),

  edges: (connection: RecordConnection, _: unknown, context: SiteContext, info: GraphQLResolveInfo) =>
    answer(() => spent(connection.edges, widthOf(info), context.budget), context),

  distinct: (connection: RecordConnection, { field }: { field: string }, context: SiteContext) =>
    answer(() => spent(connection.distinct({ field: toPath(field) }), 1, context.budget), context),

  group: (connection: RecordConnection, query: GroupQuery, context: SiteContext, info: GraphQLResolveInfo) =>
    answer(
      () => spent(connection.group({ ...query, field: toPath(query.field) }), widthOf(info), context.budget),
      context,
    ),
};

/** Reads in turn, and again if computed values are needed that take time. */
const answer = <T>(read: () => T, { records, budget }: SiteContext): T | Promise<T> =>
  records.whenKnown(() => budget.workInTurn(read));

/** Read all at once by the first that is asked. */
const groupResolvers = {
  nodes: (group: RecordGroup, _: unknown, { records, budget }: SiteContext, info: GraphQLResolveInfo) =>
    records.whenKnown(() =>
      spent(
        budget.work(() => group.nodes),
        widthOf(info),
        budget,
      ),
    ),

  edges: (group: RecordGroup, _: unknown, { records, budget }: SiteContext, info: GraphQLResolveInfo) =>
    records.whenKnown(() =>
      spent(
        budget.work(() => group.edges),
        widthOf(info),
        budget,
      ),
    ),
};

/** A list, when the budget has room for what the answer holds of each element. */
function spent<T>(list: readonly T[], width: number, budget: Budget): readonly T[] {
  budget.spend(list.length * width);
  return list;
}

function addFields(resolvers: Resolvers, type: string, fields: readonly Field[]): void {
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
  // Past its budget an operation has no answer, so that nothing is lost by ending quickly.
  return (record, _args, { budget }, info) => {
    const related = record[key] as readonly unknown[] | null;
    return budget.isOver ? [] : related && spent(related, widthOf(info), budget);
  };
}

const dateResolver =
  (name: string): Resolver =>
  (record, args: DateArguments, { formatDate, budget }) => {
    // Formatting takes some twenty times as long as all else about a value.
    if (Object.keys(args).length === 0) return formatDate(record[name], args);
    return budget.isOver ? null : budget.work(() => formatDate(record[name], args));
  };
