import type { PluginFunction, Types } from '@graphql-codegen/plugin-helpers';
import type { RecordTable } from '@trellis/core/record-types';
import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Stub } from '../output.js';
import { getDerivation } from './load-schema.js';
import { BANNER, toRecordTypeName } from './print-records.js';
import { locateAstNode, singleQueryName, toTypeName } from './sdl.js';

/** A plugin for graphql-codegen that adds {@link printSiteResolvers} to the output. */
export const plugin: PluginFunction<PluginConfig, Types.ComplexPluginOutput> = (schema, _documents, config) => ({
  prepend: [`// ${BANNER}`],
  content: printSiteResolvers(
    listResolvers(schema, getDerivation(schema).contract.tables),
    config.contextType.replace(/^.*#/, ''),
  ),
});

/** The part of the configuration of graphql-codegen's own plugins that this plugin reads. */
interface PluginConfig {
  /** The module and the name of the type of the context, separated by `#`. */
  readonly contextType: string;
}

/** Prints the interface of the hand-written resolvers. Each resolver may read only the columns that it needs. */
const printSiteResolvers = (
  resolvers: ReadonlyMap<string, readonly HandWrittenResolver[]>,
  context: string,
): string => `/** The hand-written resolvers: those of computed fields, and of queries that are not derived from a record type. */
export interface SiteResolvers {
${[...resolvers].map(([type, list]) => `  readonly ${type}: {\n${list.map((resolver) => printMember(resolver, context)).join('\n')}\n  };`).join('\n')}
}
`;

function printMember({ type, field, columns, hasArguments }: HandWrittenResolver, context: string): string {
  const parent =
    type === 'Query'
      ? 'Record<PropertyKey, never>'
      : `Pick<${toRecordTypeName(type)}, ${columns.map((name) => `'${name}'`).join(' | ')}>`;
  const args = hasArguments ? printArguments(type, field) : 'Record<PropertyKey, never>';
  return `    readonly ${field.name}: ResolverFn<${printResult(field.type)}, ${parent}, ${context}, ${args}>;`;
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

/** A field with a hand-written resolver. */
export interface HandWrittenResolver {
  readonly type: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** The columns that the resolver may read; empty for a field of Query. */
  readonly columns: readonly string[];
  /** Whether the resolver receives arguments. The arguments of a date are applied to its result instead. */
  readonly hasArguments: boolean;
}

/** Lists the hand-written resolvers by type: computed fields, and the fields of Query that are not derived. */
export function listResolvers(
  schema: GraphQLSchema,
  tables: readonly RecordTable[],
): ReadonlyMap<string, readonly HandWrittenResolver[]> {
  const lists = [
    ...tables.map((table) => [table.kind, computedOf(schema, table)] as const),
    ['Query', queriesOf(schema, tables)] as const,
  ];
  return new Map(lists.filter(([, list]) => list.length > 0));
}

function computedOf(schema: GraphQLSchema, { kind, fields }: RecordTable): HandWrittenResolver[] {
  return fields.flatMap((computed) => {
    const field = fieldOf(schema, kind, computed.name);
    if (computed.kind !== 'computed' || field === undefined) return [];
    const columns = ['id', ...computed.needs.filter((column) => column !== 'id')];
    return [{ type: kind, field, columns, hasArguments: computed.hasArguments }];
  });
}

function queriesOf(schema: GraphQLSchema, tables: readonly RecordTable[]): HandWrittenResolver[] {
  const derived = new Set(tables.flatMap(({ single, all }) => [single, all]));
  return Object.values(schema.getQueryType()?.getFields() ?? {})
    .filter(({ name }) => !derived.has(name))
    .map((field) => ({ type: 'Query', field, columns: [], hasArguments: field.args.length > 0 }));
}

function fieldOf(schema: GraphQLSchema, type: string, field: string) {
  const found = schema.getType(type);
  return isObjectType(found) ? found.getFields()[field] : undefined;
}

/** The hand-written resolvers by type. */
type Resolvers = ReadonlyMap<string, readonly HandWrittenResolver[]>;

/**
 * Lists the stubs of resolver files, one per type. The first type of a document gets the file named after the document,
 * such as `src/resolvers/file.ts` for `schema/file.graphql`; each further type gets a file named after the type.
 */
export function createResolverStubs(schema: GraphQLSchema, resolvers: Resolvers): readonly Stub[] {
  const taken = new Set<string>();
  return [...resolvers].map(([type, list]) => {
    const subject = subjectOf(schema, type);
    const name = taken.has(subject) ? kebabCase(type) : subject;
    taken.add(name);
    return toStub(name, type, list);
  });
}

/** Query has no document, as it is derived. */
function subjectOf(schema: GraphQLSchema, type: string): string {
  const node = type === 'Query' ? undefined : schema.getType(type)?.astNode;
  return (node && /([^/]+)\.graphql$/.exec(locateAstNode(node).file)?.[1]) ?? kebabCase(type);
}

const kebabCase = (name: string): string => name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-').toLowerCase();

function toStub(name: string, type: string, list: readonly HandWrittenResolver[]): Stub {
  const exportName = `${singleQueryName(type)}Resolvers`;
  return {
    file: `src/resolvers/${name}.ts`,
    header: `import type { SiteResolvers } from '../generated/site/resolvers.js';

export const ${exportName}: SiteResolvers['${type}'] = {
`,
    footer: '};\n',
    exportName,
    use: {
      file: 'src/resolvers/schema.ts',
      lines: [`import { ${exportName} } from './${name}.js';`, `${type}: ${exportName},`],
    },
    members: list.map(({ field }) => ({ name: field.name, text: memberText(type, field.name) })),
  };
}

const memberText = (type: string, field: string): string =>
  `${field}: () => {\n  throw new Error('${type}.${field} is not implemented yet.');\n},`;
