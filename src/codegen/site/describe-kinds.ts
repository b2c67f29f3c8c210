import { getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import type { RecordTable } from '../../site/fields.js';
import type { KindDescription, MadeDescription } from '../../site/kind-descriptions.js';
import { describeArguments, describeName } from './describe-arguments.js';
import { printLiteral } from './print-literal.js';
import type { SiteContract } from './read-contract.js';
import { isRecordType } from './sdl-types.js';
import type { SdlField } from './sdl-types.js';

/** `kinds.ts`: what the pages know of the schema. */
export function printKinds(contract: Pick<SiteContract, 'schema' | 'tables'>): string {
  const kinds = describeKinds(contract);
  return `
import type { KindDescription } from '../../site/kind-descriptions.js';

/** Every kind of record, in the order of the documents. */
export const kinds: readonly KindDescription[] = ${printLiteral(kinds)};
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
    made: fields.filter(isMade).map(describeMade),
  };
}

const describeMade = (field: SdlField): MadeDescription => ({
  ...describeName(field),
  arguments: describeArguments(field.args),
  results: Object.values((getNamedType(field.type) as GraphQLObjectType).getFields()).map(describeName),
});

const isMade = ({ args, type, deprecationReason }: SdlField): boolean =>
  args.length > 0 && deprecationReason == null && isObjectType(getNamedType(type)) && !isRecordType(getNamedType(type));

/** What names a record of any kind. */
const NAMED = '{ id internal { type description } }';

/** How a query asks for all of a field; `undefined` where it can't without being told more, or would never end. */
function selectionOf({ name, type, args }: SdlField, inside: readonly string[]): string | undefined {
  const named = getNamedType(type);
  if (args.some(isRequiredArgument)) return undefined;
  if (isLeafType(named)) return name;
  if (!isObjectType(named) || isRecordType(named)) return `${name} ${NAMED}`;
  if (args.length > 0 || inside.includes(named.name)) return undefined;
  const inner = Object.values(named.getFields()).map((field) => selectionOf(field, [...inside, named.name]));
  return `${name} { ${inner.filter((selection) => selection !== undefined).join(' ')} }`;
}
