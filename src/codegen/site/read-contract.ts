import { buildASTSchema, isInterfaceType, Kind, validateSchema } from 'graphql';
import type { DefinitionNode, GraphQLSchema } from 'graphql';
import type { Field, RecordTable } from '../../site/fields.js';
import { checkRecords } from './check-records.js';
import { checkSdl } from './check-sdl.js';
import { checkValues } from './check-values.js';
import { completeRecords } from './complete-records.js';
import { declareDerived } from './declare-derived.js';
import { MistakeList } from './mistakes.js';
import { parseDocuments } from './parse-documents.js';
import { readFields, readTable } from './read-tables.js';
import { recordTypes } from './sdl-types.js';

/** The written part of the contract, read and found right. */
export interface SiteContract {
  /** In the order of the documents, records complete. */
  readonly definitions: readonly DefinitionNode[];
  /** The written types; those that are derived are there by name only. */
  readonly schema: GraphQLSchema;
  /** One for each kind, in the order of the documents. */
  readonly tables: readonly RecordTable[];
  /** The fields that every record has. */
  readonly nodeFields: readonly Field[];
}

/**
 * Reads the documents (path → SDL).
 *
 * @throws ContractError with every mistake that the same step finds: the steps
 * are syntax, GraphQL's rules for documents, and the meaning of types and directives.
 */
export function readContract(documents: ReadonlyMap<string, string>): SiteContract {
  const mistakes = new MistakeList();
  const definitions = completeRecords(parseDocuments(documents));
  checkSdl(definitions, mistakes);
  mistakes.throwIfAny();
  const schema = buildSchema([...definitions, ...declareDerived(definitions)]);
  for (const error of validateSchema(schema)) mistakes.addError(error);
  checkValues(schema, definitions, mistakes);
  checkRecords(schema, definitions, mistakes);
  mistakes.throwIfAny();
  const tables = recordTypes(schema, definitions).map(readTable);
  return { definitions, schema, tables, nodeFields: readNodeFields(schema) };
}

const buildSchema = (definitions: readonly DefinitionNode[]): GraphQLSchema =>
  buildASTSchema({ kind: Kind.DOCUMENT, definitions }, { assumeValidSDL: true });

function readNodeFields(schema: GraphQLSchema): readonly Field[] {
  const node = schema.getType('Node');
  return isInterfaceType(node) ? readFields(node) : [];
}
