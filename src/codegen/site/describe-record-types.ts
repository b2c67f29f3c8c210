import { getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import type { RecordTable } from '../../core/record-types.js';
import type { KindDescription, DerivedFieldDescription } from '../../core/record-types.js';
import { describeArguments, describeName } from './describe-arguments.js';
import { printLiteral } from './print-literal.js';
import type { SiteContract } from './read-contract.js';
import { isRecordType } from './sdl-types.js';
import type { SdlField } from './sdl-types.js';

/** Prints `record-types.ts`: the description of the schema that the pages use. */
export function printRecordTypes(contract: Pick<SiteContract, 'schema' | 'tables'>): string {
  const descriptions = describeKinds(contract);
  return `
import type { KindDescription } from '../../core/record-types.js';

/** The record types, in the order of the documents. */
export const recordTypeDescriptions: readonly KindDescription[] = ${printLiteral(descriptions)};
`;
}

const describeKinds = ({ schema, tables }: Pick<SiteContract, 'schema' | 'tables'>): KindDescription[] =>
  tables.map((table) => describeKind(table, schema.getType(table.kind) as GraphQLObjectType));

function describeKind({ kind, single, all }: RecordTable, type: GraphQLObjectType): KindDescription {
  const fields = Object.values(type.getFields());
  const selected = fields.map((field) => ({ field, selection: selectionOf(field, [kind]) }));
  return {
    ...{ kind, description: type.description ?? '', single, all },
    fields: selected.flatMap(({ field, selection }) =>
      selection === undefined ? [] : [{ ...describeName(field), selection }],
    ),
    made: fields.filter(isDerived).map(describeMade),
  };
}

const describeMade = (field: SdlField): DerivedFieldDescription => ({
  ...describeName(field),
  arguments: describeArguments(field.args),
  results: Object.values((getNamedType(field.type) as GraphQLObjectType).getFields()).map(describeName),
});

const isDerived = ({ args, type, deprecationReason }: SdlField): boolean =>
  args.length > 0 && deprecationReason == null && isObjectType(getNamedType(type)) && !isRecordType(getNamedType(type));

/** The selection of a related record: the fields that identify it. */
const RELATED_RECORD = '{ id internal { type description } }';

/** Returns the selection of a complete field; `undefined` if it needs arguments or contains itself. */
function selectionOf({ name, type, args }: SdlField, inside: readonly string[]): string | undefined {
  const named = getNamedType(type);
  if (args.some(isRequiredArgument)) return undefined;
  if (isLeafType(named)) return name;
  if (!isObjectType(named) || isRecordType(named)) return `${name} ${RELATED_RECORD}`;
  if (args.length > 0 || inside.includes(named.name)) return undefined;
  const inner = Object.values(named.getFields()).map((field) => selectionOf(field, [...inside, named.name]));
  return `${name} { ${inner.filter((selection) => selection !== undefined).join(' ')} }`;
}
