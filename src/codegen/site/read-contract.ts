import { buildASTSchema, isInterfaceType, Kind, validateSchema } from 'graphql';
import type { DefinitionNode, GraphQLSchema } from 'graphql';
import type { RecordField, RecordTable } from '../../core/record-types.js';
import { checkRecords } from './check-records.js';
import { checkSdl } from './check-sdl.js';
import { checkValues } from './check-values.js';
import { addNodeFields } from './add-node-fields.js';
import { declarePlaceholderTypes } from './declare-placeholder-types.js';
import { DiagnosticList } from './diagnostics.js';
import { parseDocuments } from './parse-documents.js';
import { readFields, readTable } from './read-tables.js';
import { listRecordTypes } from './sdl-types.js';

/** The hand-written part of the contract, which has passed all checks. */
export interface SiteContract {
  /** In the order of the documents. Record types include the fields of Node. */
  readonly definitions: readonly DefinitionNode[];
  /** The hand-written types, with placeholders for derived types. */
  readonly schema: GraphQLSchema;
  /** One table for each record type, in the order of the documents. */
  readonly tables: readonly RecordTable[];
  /** The fields that every record has. */
  readonly nodeFields: readonly RecordField[];
}

/**
 * Reads and checks the documents (path → SDL).
 *
 * @throws ContractError with all errors of the first step that finds any. The steps are syntax, GraphQL's rules for
 * documents, and the rules for types and directives.
 */
export function readContract(documents: ReadonlyMap<string, string>): SiteContract {
  const diagnostics = new DiagnosticList();
  const definitions = addNodeFields(parseDocuments(documents));
  checkSdl(definitions, diagnostics);
  diagnostics.throwIfAny();
  const schema = buildSchema([...definitions, ...declarePlaceholderTypes(definitions)]);
  for (const error of validateSchema(schema)) diagnostics.addError(error);
  checkValues(schema, definitions, diagnostics);
  checkRecords(schema, definitions, diagnostics);
  diagnostics.throwIfAny();
  const tables = listRecordTypes(schema, definitions).map(readTable);
  return { definitions, schema, tables, nodeFields: readNodeFields(schema) };
}

const buildSchema = (definitions: readonly DefinitionNode[]): GraphQLSchema =>
  buildASTSchema({ kind: Kind.DOCUMENT, definitions }, { assumeValidSDL: true });

function readNodeFields(schema: GraphQLSchema): readonly RecordField[] {
  const node = schema.getType('Node');
  return isInterfaceType(node) ? readFields(node) : [];
}
