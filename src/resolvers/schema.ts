import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { records } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import { typeDefs } from '../generated/site/type-defs.js';
import type { DateArguments } from '../site/dates.js';
import type { Field, RecordTable } from '../site/fields.js';
import type { SiteContext } from './context.js';
import { dateScalar } from './date.js';
import { fileResolvers } from './file.js';
import { imageProcResolvers } from './image.js';
import { withWideInt } from './int.js';
import { recordResolvers } from './records.js';
import { siteResolvers } from './site.js';

const written: SiteResolvers = { File: fileResolvers, ImageProc: imageProcResolvers, Site: siteResolvers };

/** The schema of the site's data, able to answer. */
export function buildSiteSchema(): GraphQLSchema {
  const resolvers = recordResolvers(records);
  for (const [type, fields] of Object.entries<object>({ ...written })) {
    resolvers[type] = { ...resolvers[type], ...withDates(records[type as keyof typeof records], fields) };
  }
  return withWideInt(makeExecutableSchema({ typeDefs, resolvers: { ...resolvers, Date: dateScalar } }));
}

type Written = Readonly<Record<string, GraphQLFieldResolver<Record<string, unknown>, SiteContext>>>;

/** A computed date takes the same arguments as a stored one; its resolver gives the time itself. */
function withDates(table: RecordTable, fields: object): Written {
  const formatted = Object.entries(fields as Written).map(([name, resolve]) => {
    const field = table.fields.find((one) => one.name === name);
    return [name, takesDateArguments(field) ? formatResult(resolve) : resolve] as const;
  });
  return Object.fromEntries(formatted);
}

const takesDateArguments = (field: Field | undefined): boolean =>
  field !== undefined && 'dateArguments' in field && field.dateArguments;

const formatResult =
  (
    resolve: GraphQLFieldResolver<Record<string, unknown>, SiteContext>,
  ): GraphQLFieldResolver<Record<string, unknown>, SiteContext, DateArguments> =>
  async (record, args, context, info) =>
    context.formatDate(await resolve(record, args, context, info), args);
