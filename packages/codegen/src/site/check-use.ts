import {
  type DefinitionNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isTypeDefinitionNode,
  isUnionType,
} from 'graphql';
import { checkDate } from './check-records.js';
import {
  type SiteContract,
  DiagnosticList,
  findDirective,
  getAstNode,
  isRecordType,
  listRecordTypes,
  type SdlField,
  type SdlFields,
  SOURCES,
} from './sdl.js';

/** The types that derived types refer to. */
const FOUNDATION = ['Date', 'Node', 'PageInfo'];

/**
 * Checks the types that are neither record types nor inside of records. Reports those that nothing refers to, as no
 * client could ever receive them.
 *
 * @throws ContractError
 */
export function checkUse({ schema, definitions }: Pick<SiteContract, 'definitions' | 'schema'>): void {
  const diagnostics = new DiagnosticList();
  const used = new Set<GraphQLNamedType>();
  const roots = [schema.getQueryType(), ...FOUNDATION.map((name) => schema.getType(name))];
  for (const type of [...roots, ...listRecordTypes(schema, definitions)]) if (type) addUsed(type, schema, used);
  for (const { args } of schema.getDirectives()) for (const { type } of args) addUsed(getNamedType(type), schema, used);
  for (const definition of definitions.filter(isTypeDefinitionNode)) {
    const type = schema.getType(definition.name.value);
    if (type === undefined) continue;
    if (!used.has(type)) diagnostics.add(definition, describe(type));
    else if (isInterfaceType(type) && schema.getPossibleTypes(type).length === 0) {
      diagnostics.add(definition, `No type implements ${type.name}, so no query could return one.`);
    }
  }
  for (const type of listOtherTypes(schema, definitions)) {
    if (!used.has(type)) continue;
    for (const field of Object.values(type.getFields())) checkOtherField(type, field, diagnostics);
  }
  diagnostics.throwIfAny();
}

function addUsed(type: GraphQLNamedType, schema: GraphQLSchema, used: Set<GraphQLNamedType>): void {
  if (used.has(type)) return;
  used.add(type);
  for (const other of referencesOf(type, schema)) addUsed(other, schema, used);
}

function referencesOf(type: GraphQLNamedType, schema: GraphQLSchema): readonly GraphQLNamedType[] {
  if (isUnionType(type)) return type.getTypes();
  if (isInputObjectType(type)) return Object.values(type.getFields()).map((field) => getNamedType(field.type));
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  const fields = Object.values(type.getFields()).flatMap((field) => [field, ...field.args]);
  const types = fields.map((field) => getNamedType(field.type));
  // A field of an interface can have any type that implements it.
  return [...types, ...type.getInterfaces(), ...(isInterfaceType(type) ? schema.getPossibleTypes(type) : [])];
}

function describe(type: GraphQLNamedType): string {
  const nobody = `Nothing uses ${type.name}`;
  if (isEnumType(type) || !isObjectType(type) || isRecordType(type))
    return `${nobody}. Use it in a field, or delete it.`;
  return `${nobody}. To read records of it, write: type ${type.name} implements Node @record. Otherwise use it in a field, or delete it.`;
}

/** Lists Query, the objects that resolvers return, and the interfaces except Node. */
function listOtherTypes(schema: GraphQLSchema, definitions: readonly DefinitionNode[]): readonly SdlFields[] {
  const inside = new Set<GraphQLNamedType>();
  for (const type of listRecordTypes(schema, definitions)) addInside(type, inside);
  const names = definitions.flatMap((definition) => ('name' in definition ? (definition.name?.value ?? []) : []));
  return [...new Set(names)]
    .map((name) => schema.getType(name))
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .filter((type) => type.name !== 'Node' && !inside.has(type));
}

function addInside(type: GraphQLObjectType, inside: Set<GraphQLNamedType>): void {
  if (inside.has(type)) return;
  inside.add(type);
  for (const field of Object.values(type.getFields())) {
    const inner = getNamedType(field.type);
    if (isObjectType(inner)) addInside(inner, inside);
  }
}

/** Checks a field of Query, of an object that a resolver returns, or of an interface. */
function checkOtherField(type: SdlFields, field: SdlField, diagnostics: DiagnosticList): void {
  const isQuery = type.name === 'Query';
  const computed = isQuery || isInterfaceType(type) ? undefined : findDirective(field, 'computed');
  for (const name of [...SOURCES, 'index', 'search']) {
    const directive = findDirective(field, name);
    if (directive === undefined || directive === computed) continue;
    diagnostics.add(directive, `@${name} is only allowed on fields of @record types; ${type.name} is not one.`);
  }
  checkDate(field, diagnostics);
  const needs = computed?.arguments?.find(({ name }) => name.value === 'needs');
  if (needs !== undefined) {
    diagnostics.add(needs, `Only fields of @record types need columns; the resolver receives the whole ${type.name}.`);
  }
  if (isQuery || isInterfaceType(type) || computed !== undefined || field.args.length === 0) return;
  diagnostics.add(getAstNode(field), `${type.name}.${field.name} has arguments, so it needs @computed and a resolver.`);
}
