import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { records } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import { typeDefs } from '../generated/site/type-defs.js';
import type { DateArguments } from '../site/query/dates.js';
import type { RecordField, RecordTable } from '../core/record-types.js';
import type { SiteContext } from './context.js';
import { dateScalar } from './date.js';
import { fileResolvers } from './file.js';
import { imageProcResolvers } from './image.js';
import { withWideInt } from './int.js';
import { createRecordResolvers } from './records.js';
import { siteResolvers } from './site.js';

const handWritten: SiteResolvers = { File: fileResolvers, ImageProc: imageProcResolvers, Site: siteResolvers };

/** Builds the executable schema of the site. */
export function buildSiteSchema(): GraphQLSchema {
  const resolvers = createRecordResolvers(records);
  for (const [type, fields] of Object.entries<object>({ ...handWritten })) {
    resolvers[type] = { ...resolvers[type], ...withDates(records[type as keyof typeof records], fields) };
  }
  return withWideInt(makeExecutableSchema({ typeDefs, resolvers: { ...resolvers, Date: dateScalar } }));
}

type FieldResolvers = Readonly<Record<string, GraphQLFieldResolver<Record<string, unknown>, SiteContext>>>;

/** Applies the arguments of dates to computed dates, whose resolvers return the unformatted time. */
function withDates(table: RecordTable, fields: object): FieldResolvers {
  const formatted = Object.entries(fields as FieldResolvers).map(([name, resolve]) => {
    const field = table.fields.find((one) => one.name === name);
    return [name, takesDateArguments(field) ? formatResult(resolve) : resolve] as const;
  });
  return Object.fromEntries(formatted);
}

const takesDateArguments = (field: RecordField | undefined): boolean =>
  field !== undefined && 'dateArguments' in field && field.dateArguments;

const formatResult =
  (
    resolve: GraphQLFieldResolver<Record<string, unknown>, SiteContext>,
  ): GraphQLFieldResolver<Record<string, unknown>, SiteContext, DateArguments> =>
  async (record, args, context, info) =>
    context.formatDate(await resolve(record, args, context, info), args);
