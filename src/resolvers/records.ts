import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import type { RecordConnection } from '../site/connection.js';
import type { DateArguments } from '../site/dates.js';
import type { Field, RecordTable } from '../site/fields.js';
import type { GroupQuery } from '../site/groups.js';
import type { RecordQuery } from '../site/record-queries.js';
import type { Sort } from '../site/compile-sort.js';
import type { Filter } from '../site/compile-filter.js';
import type { SiteContext } from './context.js';
import { selectionOf } from './selection.js';

type Resolver = GraphQLFieldResolver<Record<string, unknown>, SiteContext, never>;
export type Resolvers = Record<string, Record<string, Resolver>>;

/** The resolvers of everything that a record kind brings: its queries, connection, dates and relations. */
export function recordResolvers(tables: Readonly<Record<string, RecordTable>>): Resolvers {
  const resolvers: Resolvers = { Query: {} };
  for (const table of Object.values(tables)) {
    Object.assign(resolvers.Query ?? {}, queriesOf(table));
    resolvers[`${table.kind}Connection`] = connectionResolvers as unknown as Record<string, Resolver>;
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
  [single]: (_: unknown, filter: Filter, { records, computeValue }: SiteContext, info: GraphQLResolveInfo) =>
    records.find(kind, { filter, compute: computeValue }, selectionOf(kind, RECORD, info)),

  [all]: (_: unknown, args: AllArguments, { records, computeValue }: SiteContext, info: GraphQLResolveInfo) =>
    records.page(kind, toQuery(args, computeValue), selectionOf(kind, CONNECTION, info)),
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

function toQuery({ sort, ...args }: AllArguments, compute: SiteContext['computeValue']): RecordQuery {
  if (!sort?.fields) return { ...args, compute };
  return { ...args, compute, sort: { ...sort, fields: sort.fields.map((field) => field && toPath(field)) } };
}

/** Members of a fields enum spell the dots of a path with three underscores. */
const toPath = (member: string): string => member.replaceAll('___', '.');

/** Totals, nodes, edges and page information are members of the connection itself. */
const connectionResolvers = {
  distinct: (connection: RecordConnection, { field }: { field: string }) =>
    connection.distinct({ field: toPath(field) }),

  group: (connection: RecordConnection, query: GroupQuery) =>
    connection.group({ ...query, field: toPath(query.field) }),
};

function addFields(resolvers: Resolvers, type: string, fields: readonly Field[]): void {
  const own = (resolvers[type] ??= {});
  for (const field of fields) {
    if (field.kind === 'relation') own[field.name] = (record) => record[`~${field.name}`];
    if (field.kind === 'scalar' && field.dateArguments) own[field.name] = dateResolver(field.name);
    if (field.kind === 'object') addFields(resolvers, field.type, field.fields);
  }
}

const dateResolver =
  (name: string): Resolver =>
  (record, args: DateArguments, { formatDate }) =>
    formatDate(record[name], args);
