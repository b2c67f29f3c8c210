import type { RecordField, RecordTable, Relation, ScalarField, ScalarType } from '@trellis/core/record-types';
import {
  buildASTSchema,
  buildSchema,
  type DefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isScalarType,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  Source,
  validateSchema,
} from 'graphql';
import { ContractError, type Diagnostic, readDocuments, throwUnmatched } from '../documents.js';
import { addMarkdownTypes, findBackEnds, MARKDOWN_TYPE, readMarkdownFields } from './check-directives.js';
import { checkRecords, NODE_RELATIONS } from './check-records.js';
import { checkSdl, checkValues, declarePlaceholderTypes } from './check-sdl.js';
import { checkUse } from './check-use.js';
import { deriveSchema, publishSchema } from './derive-schema.js';
import {
  allQueryName,
  DiagnosticList,
  findDirective,
  findPathField,
  findStoredScalar,
  findTexts,
  getFieldShape,
  isNodeDefinition,
  isRecordDefinition,
  isRecordType,
  linkColumn,
  listRecordTypes,
  readDirectives,
  type SdlField,
  type SdlFields,
  singleQueryName,
  type SiteContract,
} from './sdl.js';

/** The contract that a schema was derived from, and the text of the schema. */
interface Derivation {
  readonly contract: SiteContract;
  readonly sdl: string;
}

const EXTENSION = 'trellis';

/** The schema extension that passes data from the loader to the preset and the plugin. */
type Extension = Derivation | { readonly diagnostics: readonly Diagnostic[] };

/**
 * A schema loader for graphql-codegen: derives the full schema from the documents that match a pattern.
 *
 * graphql-codegen replaces the errors of a loader by a text of its own. Therefore a contract with errors gives a
 * placeholder schema, and {@link getDerivation} throws the errors.
 */
export default async function loadSchema(pattern: string, { cwd }: { cwd: string }): Promise<GraphQLSchema> {
  try {
    const documents = await readDocuments(cwd, [pattern]);
    return documents.size === 0 ? throwUnmatched(pattern) : deriveFullSchema(documents);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return extend(buildSchema('type Query { invalid: Boolean }'), { diagnostics: error.diagnostics });
  }
}

/**
 * Derives the full schema from documents (path → SDL).
 *
 * @throws ContractError with the errors in the documents; if there are no others, with the types that nothing uses.
 */
export function deriveFullSchema(documents: ReadonlyMap<string, string>): GraphQLSchema {
  const contract = readContract(documents);
  checkUse(contract);
  const sdl = publishSchema(contract.definitions, deriveSchema(contract));
  return extend(buildASTSchema(parse(sdl, { noLocation: true })), { contract, sdl });
}

/** Returns the derivation of a schema of this loader. @throws ContractError with the errors in the documents. */
export function getDerivation(schema: GraphQLSchema): Derivation {
  const extension = schema.extensions[EXTENSION] as Extension;
  if ('diagnostics' in extension) throw new ContractError(extension.diagnostics);
  return extension;
}

function extend(schema: GraphQLSchema, extension: Extension): GraphQLSchema {
  schema.extensions = { ...schema.extensions, [EXTENSION]: extension };
  return schema;
}

/**
 * Reads and checks the documents (path → SDL).
 *
 * @throws ContractError with all errors of the first step that finds any. The steps are syntax, GraphQL's rules for
 * documents, and the rules for types and directives.
 */
export function readContract(documents: ReadonlyMap<string, string>): SiteContract {
  const diagnostics = new DiagnosticList();
  const definitions = addMarkdownTypes(addNodeFields(parseDocuments(documents)));
  checkSdl(definitions, diagnostics);
  diagnostics.throwIfAny();
  const schema = buildContractSchema([...definitions, ...declarePlaceholderTypes(definitions)]);
  for (const error of validateSchema(schema)) diagnostics.addError(error);
  checkValues(schema, definitions, diagnostics);
  checkRecords(schema, definitions, diagnostics);
  diagnostics.throwIfAny();
  const tables = listRecordTypes(schema, definitions).map(readTable);
  return { definitions, schema, tables, nodeFields: readNodeFields(schema) };
}

const buildContractSchema = (definitions: readonly DefinitionNode[]): GraphQLSchema =>
  buildASTSchema({ kind: Kind.DOCUMENT, definitions }, { assumeValidSDL: true });

function readNodeFields(schema: GraphQLSchema): readonly RecordField[] {
  const node = schema.getType('Node');
  return isInterfaceType(node) ? readFields(node) : [];
}

/**
 * Appends the fields of Node that a record type or an interface omits, in the order of Node. A type that implements Node
 * without being a record type gets them too, so that only the missing directive is reported.
 */
function addNodeFields(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const node = definitions.find((d) => d.kind === Kind.INTERFACE_TYPE_DEFINITION && d.name.value === 'Node');
  const inherited = node?.kind === Kind.INTERFACE_TYPE_DEFINITION ? (node.fields ?? []) : [];
  return definitions.map((definition) =>
    isRecordDefinition(definition) || isNodeDefinition(definition) ? complete(definition, inherited) : definition,
  );
}

function complete<Definition extends InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode>(
  definition: Definition,
  inherited: readonly FieldDefinitionNode[],
): Definition {
  const fields = definition.fields ?? [];
  const written = new Set(fields.map(({ name }) => name.value));
  const missing = inherited.filter(({ name }) => !written.has(name.value));
  // The directives are those of stored fields, which an interface has none of.
  const added = definition.kind === Kind.INTERFACE_TYPE_DEFINITION ? missing.map(withoutDirectives) : missing;
  return { ...definition, fields: [...fields, ...added] };
}

const withoutDirectives = (field: FieldDefinitionNode): FieldDefinitionNode => ({ ...field, directives: [] });

/**
 * Parses the documents and returns their definitions in the order of the paths. Each node has the path as source name.
 *
 * @throws ContractError with the first syntax error of each document.
 */
export function parseDocuments(documents: ReadonlyMap<string, string>): readonly DefinitionNode[] {
  const diagnostics = new DiagnosticList();
  const definitions = [...documents]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => parseDocument(new Source(text, file), diagnostics));
  diagnostics.throwIfAny();
  return definitions;
}

function parseDocument(source: Source, diagnostics: DiagnosticList): readonly DefinitionNode[] {
  // A document with only comments, such as a draft, is valid.
  if (/^[\s,]*$/u.test(source.body.replaceAll(/#[^\n\r]*/gu, ''))) return [];
  try {
    return parse(source).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    diagnostics.addError(error);
    return [];
  }
}

/** Returns the field table of a record type that has passed all checks. */
const readTable = (kind: GraphQLObjectType): RecordTable => ({
  kind: kind.name,
  single: singleQueryName(kind.name),
  all: allQueryName(kind.name),
  ...readSource(kind),
  fields: readFields(kind),
});

function readSource(kind: GraphQLObjectType): Pick<RecordTable, 'source'> {
  const directive = findDirective(kind, 'source');
  const globs = findTexts(directive, 'glob').map(({ value }) => value);
  const [at] = findTexts(directive, 'at');
  return globs.length === 0 ? {} : { source: { globs, ...(at && { at: at.value }) } };
}

/** @param above The names of the enclosing fields, outermost first. */
const readFields = (type: SdlFields, above: readonly string[] = []): readonly RecordField[] =>
  Object.values(type.getFields()).map((field) => readField(field, above, type));

function readField(field: SdlField, above: readonly string[], kind: SdlFields): RecordField {
  const names = [...above, field.name];
  const { list, nullable, type } = getFieldShape(field);
  const base = { name: field.name, path: names.join('.'), list, nullable };
  const { alias, computed, dateformat, index, markdown, searchWeight, slug } = readDirectives(field);
  const relation = above.length === 0 ? readRelation(field, kind) : undefined;
  if (relation !== undefined) return { kind: 'relation', ...base, type: type.name, relation };
  const fields = isObjectType(type) && !isRecordType(type) ? readFields(type, names) : [];
  if (markdown !== undefined) {
    return {
      kind: 'computed',
      ...base,
      type: MARKDOWN_TYPE,
      fields: readMarkdownFields(fields),
      needs: [markdown, 'parent'],
      hasArguments: false,
      dateArguments: false,
      markdown,
    };
  }
  if (computed !== undefined) {
    const { needs } = computed;
    return {
      kind: 'computed',
      ...base,
      type: scalarName(type),
      ...readDeclared(type),
      fields,
      needs,
      hasArguments: field.args.length > 0,
      ...(field.args.some(isRequiredArgument) && { needsArguments: true }),
      dateArguments: dateformat,
    };
  }
  if (!isLeafType(type)) return { kind: 'object', ...base, type: type.name, fields };
  const column = alias ?? base.path;
  return {
    kind: 'scalar',
    ...base,
    type: scalarName(type) as ScalarType,
    ...readDeclared(type),
    column,
    dateArguments: dateformat,
    indexed: index,
    ...(searchWeight !== undefined && { searchWeight }),
    ...(slug && { slug }),
  };
}

function scalarName(type: GraphQLNamedOutputType): string {
  if (isEnumType(type)) return 'String';
  return (isScalarType(type) ? findStoredScalar(type) : undefined) ?? type.name;
}

/** Reads the name and the values of an enum, and the name of a scalar of the application. */
function readDeclared(type: GraphQLNamedOutputType): Pick<ScalarField, 'declared' | 'values'> {
  if (isEnumType(type)) return { declared: type.name, values: type.getValues().map(({ name }) => name) };
  return isScalarType(type) && findStoredScalar(type) !== undefined ? { declared: type.name } : {};
}

function readRelation(field: SdlField, kind: SdlFields): Relation | undefined {
  if (field.name === 'parent' || field.name === 'children') return NODE_RELATIONS[field.name];
  const { child, link, back } = readDirectives(field);
  if (child) return { by: 'child' };
  if (back !== undefined) {
    const ends = findBackEnds(kind, field, back);
    return typeof ends === 'string' ? undefined : { by: 'back', ...ends };
  }
  if (link === undefined) return undefined;
  const pathField = findPathField(kind, field);
  const from = linkColumn(kind, field, link);
  return { by: 'link', from, to: link.to, ...(pathField !== undefined && { pathField }) };
}
