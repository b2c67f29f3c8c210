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
} from 'graphql';
import type { Location } from '../documents.js';
import { type GeneratorOutput, toOutputs } from '../output.js';
import { getDerivation } from './load-schema.js';
import { BANNER, printRecords, printRecordTypes, toRecordTypeName } from './print-records.js';
import { createResolverStubs, listResolvers } from './resolvers-plugin.js';
import { hasFilter, listDerivedNamesOfType, locateAstNode, toTypeName } from './sdl.js';

/** The configuration of the preset in `codegen.ts`. */
interface PresetConfig {
  /** The type of a stored record, as a mapper of graphql-codegen; `{T}` stands for the record type. */
  recordMapper: string;
  /** The module of the types of field tables and descriptions, as generated files import it. */
  recordTypes: string;
}

/**
 * The preset that generates the published schema, the field tables of its record types, their descriptions for the
 * pages, and `resolvers.ts`, which the plugins of the output write.
 *
 * @throws ContractError with the errors in the documents.
 */
export const preset: Types.OutputPreset<PresetConfig> = {
  buildGeneratesSection(options) {
    const { schemaAst: schema, presetConfig } = options;
    if (schema === undefined) throw new Error('The preset needs the schema of load-schema.ts.');
    const { tables } = getDerivation(schema).contract;
    const mappers = toMappers(tables, presetConfig.recordMapper);
    return [...toOutputs(options, generateSite(schema, presetConfig.recordTypes)), toResolvers(options, mappers)];
  },
};

/** Generates the files that graphql-codegen's own plugins are not involved in. */
function generateSite(schema: GraphQLSchema, typesModule: string): GeneratorOutput {
  const { contract, sdl } = getDerivation(schema);
  const { definitions, tables } = contract;
  return {
    files: new Map([
      ['schema.graphql', `# ${BANNER}\n\n${sdl}`],
      ['type-defs.ts', `// ${BANNER}\n\nexport const typeDefs = ${printTemplate(sdl)};\n`],
      ['records.ts', `// ${BANNER}\n${printRecords(tables, typesModule)}`],
      ['record-types.ts', `// ${BANNER}\n${printRecordTypes(contract, typesModule)}`],
    ]),
    origins: mapSiteSourceLines(definitions),
    stubs: createResolverStubs(contract.schema, listResolvers(schema, tables)),
  };
}

const printTemplate = (text: string): string => `\`${text.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`)}\``;

const toMappers = (tables: readonly RecordTable[], mapper: string): Record<string, string> =>
  Object.fromEntries(tables.map(({ kind }) => [kind, mapper.replaceAll('{T}', kind)]));

function toResolvers(options: Types.PresetFnArgs, mappers: Record<string, string>): Types.GenerateOptions {
  const config = options.config as { mappers?: Record<string, string> };
  return {
    ...options,
    filename: `${options.baseOutputDir}resolvers.ts`,
    // resolvers-plugin.ts refers to types by the names that `typeName` gives.
    config: { ...config, mappers: { ...config.mappers, ...mappers }, namingConvention: toTypeName },
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
