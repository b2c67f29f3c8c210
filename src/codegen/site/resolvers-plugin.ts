import type { PluginFunction, Types } from '@graphql-codegen/plugin-helpers';
import { isListType, isNonNullType } from 'graphql';
import type { GraphQLField, GraphQLOutputType } from 'graphql';
import { listResolvers } from './list-resolvers.js';
import type { HandWrittenResolver } from './list-resolvers.js';
import { getDerivation } from './load-schema.js';
import { toTypeName } from './names.js';
import { BANNER } from './preset.js';
import { toRecordTypeName } from './print-records.js';

/** A plugin for graphql-codegen that adds {@link printSiteResolvers} to the output. */
export const plugin: PluginFunction<unknown, Types.ComplexPluginOutput> = (schema) => ({
  prepend: [`// ${BANNER}`],
  content: printSiteResolvers(listResolvers(schema, getDerivation(schema).contract.tables)),
});

/** Prints the interface of the hand-written resolvers. Each resolver may read only the columns that it needs. */
export const printSiteResolvers = (
  resolvers: ReadonlyMap<string, readonly HandWrittenResolver[]>,
): string => `/** The hand-written resolvers: those of computed fields, and of queries that are not derived from a record type. */
export interface SiteResolvers {
${[...resolvers].map(([type, list]) => `  readonly ${type}: {\n${list.map(printMember).join('\n')}\n  };`).join('\n')}
}
`;

function printMember({ type, field, columns, hasArguments }: HandWrittenResolver): string {
  const parent =
    type === 'Query'
      ? 'Record<PropertyKey, never>'
      : `Pick<${toRecordTypeName(type)}, ${columns.map((name) => `'${name}'`).join(' | ')}>`;
  const args = hasArguments ? printArguments(type, field) : 'Record<PropertyKey, never>';
  return `    readonly ${field.name}: ResolverFn<${printResult(field.type)}, ${parent}, SiteContext, ${args}>;`;
}

/** Arguments with a default are always present. */
function printArguments(type: string, { name, args }: GraphQLField<unknown, unknown>): string {
  const all = `${toTypeName(type)}${toTypeName(name)}Args`;
  const present = args.filter((arg) => isNonNullType(arg.type) || arg.defaultValue !== undefined);
  return present.length === 0
    ? `Partial<${all}>`
    : `RequireFields<${all}, ${present.map((arg) => `'${arg.name}'`).join(' | ')}>`;
}

const printResult = (type: GraphQLOutputType): string =>
  isNonNullType(type) ? printNonNull(type.ofType) : `Maybe<${printNonNull(type)}>`;

const printNonNull = (type: GraphQLOutputType): string =>
  isListType(type)
    ? `ReadonlyArray<${printResult(type.ofType as GraphQLOutputType)}>`
    : `ResolversTypes['${String(type)}']`;
