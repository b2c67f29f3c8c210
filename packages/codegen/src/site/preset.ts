import type { Types } from '@graphql-codegen/plugin-helpers';
import type { RecordTable } from '@trellis/core/record-types';
import {
  type DefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
} from 'graphql';
import type { Location } from '../documents.js';
import { type GeneratorOutput, toOutputs } from '../output.js';
import { getDerivation } from './load-schema.js';
import { BANNER, printRecords, toRecordTypeName } from './print-records.js';
import { type BaseResolvers, createResolverStubs, listObjectMappers, listResolvers } from './resolvers-plugin.js';
import {
  type SiteContract,
  findStoredScalar,
  hasFilter,
  listDerivedNamesOfType,
  locateAstNode,
  toTypeName,
} from './sdl.js';

/** The configuration of the preset in `codegen.ts`. */
interface PresetConfig {
  /** The type of a stored record, as a mapper of graphql-codegen; `{T}` stands for the record type. */
  recordMapper: string;
  /** The type of a connection that a hand-written query returns, as a mapper of graphql-codegen. */
  connectionMapper?: string;
  /** The resolvers that a package has written, which get no stubs. */
  base?: BaseResolvers;
  /** The module of the types of field tables, as generated files import it. */
  recordTypes: string;
}

/**
 * The preset that generates the published schema, the field tables of its record types, and `resolvers.ts`, which the
 * plugins of the output write.
 *
 * @throws ContractError with the errors in the documents.
 */
export const preset: Types.OutputPreset<PresetConfig> = {
  buildGeneratesSection(options) {
    const { schemaAst: schema, presetConfig } = options;
    if (schema === undefined) throw new Error('The preset needs the schema of load-schema.ts.');
    return [...toOutputs(options, generateSite(schema, presetConfig)), toResolvers(options, schema)];
  },
};

/** Generates the files that graphql-codegen's own plugins are not involved in. */
function generateSite(schema: GraphQLSchema, { recordTypes: typesModule, base }: PresetConfig): GeneratorOutput {
  const { contract, sdl } = getDerivation(schema);
  const { definitions, tables } = contract;
  return {
    files: new Map([
      ['schema.graphql', `# ${BANNER}\n\n${sdl}`],
      ['records.ts', `// ${BANNER}\n${printRecords(tables, typesModule)}`],
    ]),
    origins: () => mapSiteSourceLines(definitions),
    stubs: createResolverStubs(contract.schema, listResolvers(schema, contract), base),
  };
}

const toMappers = (
  tables: readonly RecordTable[],
  { recordMapper, connectionMapper }: PresetConfig,
): Record<string, string> =>
  Object.fromEntries(
    tables.flatMap(({ kind }): (readonly [string, string])[] => [
      [kind, recordMapper.replaceAll('{T}', kind)],
      ...(connectionMapper === undefined ? [] : [[`${kind}Connection`, connectionMapper] as const]),
    ]),
  );

const STORED_TYPES: Readonly<Record<string, string>> = {
  Float: 'number',
  Int: 'number',
  String: 'string',
};

/** Returns the types of the scalars of the application in resolvers: those of their stored values. */
const toScalars = ({ definitions }: SiteContract): Record<string, string> =>
  Object.fromEntries(
    definitions.flatMap((definition) => {
      if (definition.kind !== Kind.SCALAR_TYPE_DEFINITION || definition.name.value === 'Date') return [];
      const stored = findStoredScalar({ astNode: definition });
      return [[definition.name.value, (stored && STORED_TYPES[stored]) ?? 'unknown']];
    }),
  );

function toResolvers(
  { presetConfig, ...options }: Types.PresetFnArgs<PresetConfig>,
  schema: GraphQLSchema,
): Types.GenerateOptions {
  const { contract } = getDerivation(schema);
  const config = options.config as { mappers?: Record<string, string>; scalars?: Record<string, string> };
  return {
    ...options,
    filename: `${options.baseOutputDir}resolvers.ts`,
    config: {
      ...config,
      mappers: {
        ...listObjectMappers(schema, contract),
        ...config.mappers,
        ...toMappers(contract.tables, presetConfig),
      },
      scalars: { ...config.scalars, ...toScalars(contract) },
      recordTypes: presetConfig.recordTypes,
      // resolvers-plugin.ts refers to types by the names that `typeName` gives.
      namingConvention: toTypeName,
    },
  };
}

/**
 * Maps generated names to the contract lines that they come from: types, `Type.field`, members and arguments, and the
 * bare name of a field if only one type has it.
 */
function mapSiteSourceLines(written: readonly DefinitionNode[]): ReadonlyMap<string, Location> {
  const origins = new Map<string, Location>();
  const bare = new Map<string, Set<Member>>();
  for (const definition of written) {
    if (!isTypeDefinitionNode(definition) && !isTypeExtensionNode(definition)) continue;
    const type = definition.name.value;
    for (const name of [type, ...namesAfter(definition, type)]) {
      if (!origins.has(name)) origins.set(name, locateAstNode(definition));
    }
    for (const member of membersOf(definition)) {
      for (const owner of ownersOf(type)) origins.set(`${owner}.${member.name.value}`, locateAstNode(member));
      // Record types that omit a field of Node share its node.
      bare.set(member.name.value, (bare.get(member.name.value) ?? new Set()).add(member));
    }
  }
  for (const [name, [member, ...others]] of bare) {
    if (member !== undefined && others.length === 0 && !origins.has(name)) origins.set(name, locateAstNode(member));
  }
  return origins;
}

const namesAfter = (definition: DefinitionNode, type: string): string[] =>
  hasFilter(definition) ? [toRecordTypeName(type), ...listDerivedNamesOfType(definition).keys()] : [];

/** Returns the generated types that have a member for each member of a type. */
const ownersOf = (type: string): string[] => [type, toRecordTypeName(type), `${type}FilterInput`, `${type}FieldsEnum`];

type Member = EnumValueDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode;

function membersOf(definition: DefinitionNode): readonly Member[] {
  if ('fields' in definition) return definition.fields ?? [];
  return 'values' in definition ? (definition.values ?? []) : [];
}
