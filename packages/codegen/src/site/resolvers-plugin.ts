import type { PluginFunction, Types } from '@graphql-codegen/plugin-helpers';
import type { RecordTable } from '@trellis/core/record-types';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import type { Stub } from '../output.js';
import { getDerivation } from './load-schema.js';
import { BANNER, toRecordTypeName } from './print-records.js';
import { type SiteContract, locateAstNode, readDirectives, type SdlField, singleQueryName, toTypeName } from './sdl.js';

/** A plugin for graphql-codegen that adds {@link printSiteResolvers} to the output. */
export const plugin: PluginFunction<PluginConfig, Types.ComplexPluginOutput> = (schema, _documents, config) => {
  const resolvers = listResolvers(schema, getDerivation(schema).contract);
  const hasCodecs = [...resolvers.values()].some(([first]) => first?.is === 'codec');
  return {
    prepend: [
      `// ${BANNER}`,
      ...(config.contextType.includes(RECORDS) ? [`import type { ${RECORDS} } from './records.js';`] : []),
      ...(hasCodecs ? [`import type { ScalarCodec } from '${config.recordTypes}';`] : []),
    ],
    content: printSiteResolvers(resolvers, config.contextType.replace(/^.*#/, '')),
  };
};

/** The type of all stored records, which the type of the context may take as its parameter. */
const RECORDS = 'RecordsByKind';

/** The part of the configuration of graphql-codegen's own plugins that this plugin reads. */
interface PluginConfig {
  /** The module and the type of the context, such as `./context.js#SiteContext<RecordsByKind>`. */
  readonly contextType: string;
  /** The module of the types of codecs, which the preset sets. */
  readonly recordTypes: string;
}

/** Prints the interface of the hand-written resolvers. Each resolver may read only the columns that it needs. */
const printSiteResolvers = (
  resolvers: Resolvers,
  context: string,
): string => `/** The parts that are written by hand: computed fields, queries that are not derived from a record type, and codecs. */
export interface SiteResolvers {
${[...resolvers].map(([type, list]) => printType(type, list, context)).join('\n')}
}

/** The parts of types that are missing as a whole, such as \`Boat.age\`. */
type MissingResolver<Given> = {
  [Type in keyof SiteResolvers]: Type extends keyof Given ? never : \`\${Type}.\${keyof SiteResolvers[Type] & string}\`;
}[keyof SiteResolvers];

/** Returns complete resolvers. The compiler names each part that is missing. */
export const defineResolvers = <Given extends Partial<SiteResolvers>>(
  resolvers: Given & Readonly<Record<MissingResolver<Given>, never>>,
): SiteResolvers => resolvers as unknown as SiteResolvers;
`;

function printType(type: string, list: readonly HandWritten[], context: string): string {
  const [first] = list;
  if (first?.is === 'codec') return `  readonly ${type}: ScalarCodec<Scalars['${type}']['output']>;`;
  return `  readonly ${type}: {\n${list.map((member) => printMember(member, context)).join('\n')}\n  };`;
}

function printMember(member: HandWritten, context: string): string {
  if (member.is !== 'resolver') {
    const types = member.is === 'type' ? member.types.map((name) => `'${name}'`).join(' | ') : '';
    return `    readonly __resolveType: TypeResolveFn<${types}, ResolversTypes['${member.type}'], ${context}>;`;
  }
  const { type, field, columns, hasArguments } = member;
  const args = hasArguments ? printArguments(type, field) : 'Record<PropertyKey, never>';
  return `    readonly ${field.name}: ResolverFn<${printResult(field.type)}, ${printParent(type, columns)}, ${context}, ${args}>;`;
}

function printParent(type: string, columns: readonly string[] | undefined): string {
  if (type === 'Query') return 'Record<PropertyKey, never>';
  if (columns === undefined) return `ResolversParentTypes['${type}']`;
  return `Pick<${toRecordTypeName(type)}, ${columns.map((name) => `'${name}'`).join(' | ')}>`;
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

/**
 * Returns mappers of the objects with computed fields that are not records, by type: resolvers return their other fields.
 * Like the types that graphql-codegen prints without mappers, they refer to the types of other objects in resolvers.
 */
export function listObjectMappers(schema: GraphQLSchema, contract: SiteContract): Record<string, string> {
  const mappers = [...listResolvers(schema, contract)].flatMap(([name, members]) => {
    const type = schema.getType(name);
    const isRecord = contract.tables.some(({ kind }) => kind === name);
    if (!isObjectType(type) || isRecord || name === 'Query') return [];
    const computed = new Set(members.flatMap((member) => (member.is === 'resolver' ? [member.field.name] : [])));
    const objects = Object.values(type.getFields()).filter(
      (field) => !computed.has(field.name) && isCompositeType(getNamedType(field.type)),
    );
    const omitted = [...computed, ...objects.map((field) => field.name)].map((field) => `'${field}'`);
    const fields = objects.map(
      (field) => `readonly ${field.name}${isNonNullType(field.type) ? '' : '?'}: ${printResult(field.type)}`,
    );
    const others = `Omit<${toTypeName(name)}, ${omitted.join(' | ')}>`;
    return [[name, fields.length === 0 ? others : `${others} & { ${fields.join('; ')} }`] as const];
  });
  return Object.fromEntries(mappers);
}

/** A field with a hand-written resolver. */
interface FieldResolver {
  readonly is: 'resolver';
  readonly type: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** The columns that the resolver may read; absent for a type that is not a record type. */
  readonly columns?: readonly string[];
  /** Whether the resolver receives arguments. The arguments of a date are applied to its result instead. */
  readonly hasArguments: boolean;
}

/** The type of the results of an interface or a union, if they have other types than record types. */
interface TypeResolver {
  readonly is: 'type';
  readonly type: string;
  /** The possible types. */
  readonly types: readonly string[];
}

interface Codec {
  readonly is: 'codec';
  readonly type: string;
}

type HandWritten = Codec | FieldResolver | TypeResolver;

/** The parts that are written by hand, by type. */
type Resolvers = ReadonlyMap<string, readonly HandWritten[]>;

/** Lists the parts of a schema that are written by hand. */
export function listResolvers(schema: GraphQLSchema, contract: SiteContract): Resolvers {
  const { tables } = contract;
  const kinds = new Set(tables.map(({ kind }) => kind));
  const others = Object.values(contract.schema.getTypeMap()).filter(
    ({ name }) => schema.getType(name) && !kinds.has(name),
  );
  const lists = [
    ...tables.map((table) => [table.kind, computedOf(schema, table)] as const),
    ...others.map((type) => [type.name, listOther(type, schema, contract)] as const),
  ];
  return new Map(lists.filter(([, list]) => list.length > 0));
}

function computedOf(schema: GraphQLSchema, { kind, fields }: RecordTable): HandWritten[] {
  return fields.flatMap((computed) => {
    const field = fieldOf(schema, kind, computed.name);
    if (computed.kind !== 'computed' || computed.markdown !== undefined || field === undefined) return [];
    const columns = ['id', ...computed.needs.filter((column) => column !== 'id')];
    return [{ is: 'resolver', type: kind, field, columns, hasArguments: computed.hasArguments }];
  });
}

function listOther(type: GraphQLNamedType, schema: GraphQLSchema, { tables }: SiteContract): HandWritten[] {
  const { name } = type;
  if (isScalarType(type)) return isSpecifiedScalarType(type) || name === 'Date' ? [] : [{ is: 'codec', type: name }];
  const published = schema.getType(name);
  if (isAbstractType(published)) {
    const types = schema.getPossibleTypes(published).map((one) => one.name);
    const areKinds = types.every((one) => tables.some(({ kind }) => kind === one));
    return areKinds ? [] : [{ is: 'type', type: name, types }];
  }
  if (!isObjectType(type) || isIntrospectionType(type)) return [];
  return listFields(type, schema, tables);
}

/** Lists the queries that are not derived, and the computed fields of an object that is not a record. */
function listFields(type: GraphQLObjectType, schema: GraphQLSchema, tables: readonly RecordTable[]): HandWritten[] {
  const derived = new Set(tables.flatMap(({ single, all }) => [single, all]));
  const isWritten = (field: SdlField): boolean =>
    type.name === 'Query' ? !derived.has(field.name) : readDirectives(field).computed !== undefined;
  return Object.values(type.getFields()).flatMap((written) => {
    const field = fieldOf(schema, type.name, written.name);
    if (field === undefined || !isWritten(written)) return [];
    return [{ is: 'resolver', type: type.name, field, hasArguments: written.args.length > 0 }];
  });
}

function fieldOf(schema: GraphQLSchema, type: string, field: string) {
  const found = schema.getType(type);
  return isObjectType(found) ? found.getFields()[field] : undefined;
}

/** The file with all resolvers, which imports those of the others. */
const RESOLVERS_FILE = 'schema';

/**
 * Lists the stubs of resolver files, one per type. The first type of a document gets the file named after the document,
 * such as `src/resolvers/file.ts` for `schema/file.graphql`; each further type gets a file named after the type.
 *
 * @param base The members that a package has written, which need no stub.
 */
export function createResolverStubs(schema: GraphQLSchema, resolvers: Resolvers, base?: BaseResolvers): Stub[] {
  const taken = new Set([RESOLVERS_FILE]);
  return [...resolvers].flatMap(([type, list]) => {
    const written = base?.fields[type] ?? [];
    const members = membersOf(type, list).filter(({ name }) => !written.includes(name));
    if (members.length === 0) return [];
    const subject = subjectOf(schema, type);
    const name = taken.has(subject) ? kebabCase(type) : subject;
    taken.add(name);
    return [toStub({ name, type, members, base: written.length > 0 ? base?.name : undefined })];
  });
}

/** Resolvers that a package has written. */
export interface BaseResolvers {
  /** The name of the object with the resolvers by type. */
  readonly name: string;
  /** The names of its members by type. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

/** Query has no document, as it is derived. */
function subjectOf(schema: GraphQLSchema, type: string): string {
  const node = type === 'Query' ? undefined : schema.getType(type)?.astNode;
  return (node && /([^/]+)\.(?:graphql|gql)$/.exec(locateAstNode(node).file)?.[1]) ?? kebabCase(type);
}

const kebabCase = (name: string): string => name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-').toLowerCase();

interface StubParts {
  readonly name: string;
  readonly type: string;
  readonly members: Stub['members'];
  /** The name of the object with the other members of the type. */
  readonly base: string | undefined;
}

function toStub({ name, type, members, base }: StubParts): Stub {
  const exportName = `${singleQueryName(type)}Resolvers`;
  const all = `SiteResolvers['${type}']`;
  const names = members.map((member) => `'${member.name}'`).join(' | ');
  return {
    file: `src/resolvers/${name}.ts`,
    header: `import type { SiteResolvers } from '../generated/site/resolvers.js';

export const ${exportName}: ${base === undefined ? all : `Pick<${all}, ${names}>`} = {
`,
    footer: '};\n',
    exportName,
    use: {
      file: `src/resolvers/${RESOLVERS_FILE}.ts`,
      lines: [
        `import { ${exportName} } from './${name}.js';`,
        `${type}: ${base === undefined ? exportName : `{ ...${base}.${type}, ...${exportName} }`},`,
      ],
    },
    members,
  };
}

function membersOf(type: string, list: readonly HandWritten[]): Stub['members'] {
  const names = list.flatMap((member) => {
    if (member.is === 'codec') return ['parse', 'serialize'];
    return member.is === 'type' ? ['__resolveType'] : [member.field.name];
  });
  return names.map((name) => ({ name, text: memberText(type, name) }));
}

const memberText = (type: string, field: string): string =>
  `${field}: () => {\n  throw new Error('${type}.${field} is not implemented yet.');\n},`;
