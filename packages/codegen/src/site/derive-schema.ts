import type { RecordField, RecordTable } from '@trellis/core/record-types';
import { type DefinitionNode, type DocumentNode, type FieldDefinitionNode, Kind, parse, print, visit } from 'graphql';
import {
  type SiteContract,
  GENERATOR_DIRECTIVES,
  GROUP_SORT,
  GROUP_SORT_KEY,
  OPERATOR_INPUTS,
  operatorInputName,
  SORT_ORDER,
} from './sdl.js';

/** Derives the SDL of all types that follow from the record types: queries, connections, filters and sort inputs. */
export function deriveSchema({ tables, nodeFields }: Pick<SiteContract, 'nodeFields' | 'tables'>): string {
  const inner = createInnerFields(tables, nodeFields);
  const records = new Map(tables.map(({ kind, fields }) => [kind, fields]));
  const filtered = new Map([...records, ...listFiltered([...records.values()].flat(), inner)]);
  const lists = new Set(
    [...filtered.values()]
      .flat()
      .filter((field) => field.list && inner(field).length > 0)
      .map(({ type }) => type),
  );
  return [
    deriveQuery(tables, inner),
    CHANGES,
    ...tables.flatMap(({ kind, fields }) => [
      deriveConnection(kind, isSearchable(fields)),
      deriveFieldsEnum(kind, listMembers(fields, inner)),
    ]),
    ...[...filtered].map(([type, fields]) =>
      records.has(type) ? deriveRecordFilter(type, fields, inner) : deriveFilterInput(type, fields, inner),
    ),
    ...[...lists].map(deriveFilterListInput),
    deriveOperators(),
    ...listDeclared([...filtered.values()].flat(), inner).map(deriveDeclaredOperators),
  ].join('\n');
}

/** The subscription and the live queries of every site. */
const CHANGES = `
"""
Keeps a query open as a stream of server-sent events, by the protocol of graphql-sse: the first event has the result, and each
further one the result that a change of the site has altered.
"""
directive @live(
  "Whether the query stays open. If not, it runs once."
  if: Boolean = true
) on QUERY

"Events of the site, as streams of server-sent events by the protocol of graphql-sse."
type Subscription {
  """
  The changes of the records. The first event has the current revision and no records, so that a client that connects again
  knows whether it missed a change. Changes that a client has not read yet are merged.
  """
  siteChanged: SiteChange!
}

"A change of the site's records, which queries see from then on."
type SiteChange {
  "A number that increases with each change."
  revision: Float!
  "The types of the records that were added, changed or deleted, such as \`File\`."
  kinds: [String!]!
  "The ids of these records, at most 1,000."
  ids: [ID!]!
  "Whether more records changed than \`ids\` lists."
  isTruncated: Boolean!
}`;

/** Derives the type Query: for each record type, the query of one record and that of many. */
export const deriveQuery = (tables: readonly RecordTable[], inner: InnerFields): string => `
"The data of the site."
type Query {
${tables.map((table) => queryPair(table, inner)).join('\n')}
}`;

const queryPair = ({ kind, single, all, fields }: RecordTable, inner: InnerFields): string => `
  "The first ${kind} record that matches all conditions."
  ${single}(
${fields
  .filter(isQueryable)
  .map((field) => `    ${field.name}: ${getFilterType(field, inner)}`)
  .join('\n')}
  ): ${kind}
  "All ${kind} records, or those that match a filter."
  ${all}(
    "Conditions, all of which must match."
    filter: ${kind}FilterInput
    "The order of the records. Defaults to the order of their creation."
    sort: ${kind}SortInput
    "The number of records to skip."
    skip: Int
    "The maximum number of records to return."
    limit: Int${isSearchable(fields) ? SEARCH_ARGUMENT : ''}
  ): ${kind}Connection!`;

/** Whether records of a type are in a full-text index. */
const isSearchable = (fields: readonly RecordField[]): boolean =>
  fields.some((field) => field.kind === 'scalar' && field.searchWeight !== undefined);

const SEARCH_ARGUMENT = `
    """
    Words that must all occur, in any order, without regard to case and accents. \`word*\` matches words that begin with it,
    and \`"two words"\` a phrase. The best matches come first, unless \`sort\` is set. A text without a word has no effect.
    """
    search: String`;

const SEARCH_FIELDS = `
  "How well the record matches \`search\`: the higher, the better. Null without a search."
  score: Float
  "The part of the record that matches \`search\`, as HTML with matches in \`mark\` elements. Null without a search."
  snippet(
    "The maximum number of words, from 1 to 64."
    words: Int! = 24
  ): String`;

/** Derives the result types of the query for many records of a type, and the input for their order. */
const deriveConnection = (kind: string, searchable: boolean): string => `
"One page of the ${kind} records that match."
type ${kind}Connection {
  "The number of matching records on all pages."
  totalCount: Int!
  "The records of the page, each with its neighbours."
  edges: [${kind}Edge!]!
  "The records of the page."
  nodes: [${kind}!]!
  "The position of the page."
  pageInfo: PageInfo!
  "The distinct values of a field on the page as text, in text order."
  distinct(field: ${kind}FieldsEnum!): [String!]!
  "The records of the page, grouped by the value of a field. Records without a value are in no group."
  group(
    "The number of records to skip at the start of each group."
    skip: Int
    "The maximum number of records to return for each group."
    limit: Int
    "The field to group by."
    field: ${kind}FieldsEnum!
    "The order of the groups. Defaults to ascending by value."
    sort: ${GROUP_SORT}
  ): [${kind}GroupConnection!]!
}

"A ${kind} record with its neighbours on the page."
type ${kind}Edge {
  "The next record."
  next: ${kind}
  "The record."
  node: ${kind}!
  "The previous record."
  previous: ${kind}${searchable ? SEARCH_FIELDS : ''}
}

"The ${kind} records that share a value of a field."
type ${kind}GroupConnection {
  "The number of records in the group."
  totalCount: Int!
  "The records of the group, each with its neighbours."
  edges: [${kind}Edge!]!
  "The records of the group."
  nodes: [${kind}!]!
  "The position of the returned records in the group."
  pageInfo: PageInfo!
  "The path of the field, with dots between its segments."
  field: String!
  "The shared value, as text."
  fieldValue: String
}

"The order of ${kind} records: by the first field, then by the second, and so on."
input ${kind}SortInput {
  "The fields to sort by."
  fields: [${kind}FieldsEnum]
  "The direction for each field. Defaults to ascending."
  order: [SortOrderEnum] = [ASC]
}`;

const DEPRECATED = 'Sorting on fields that need arguments to resolve is deprecated.';

export const deriveFieldsEnum = (kind: string, members: readonly EnumMember[]): string => `
"The fields of ${kind}, its objects and its related records, as paths with \`___\` between the segments."
enum ${kind}FieldsEnum {
${members.map(memberLine).join('\n')}
}`;

const memberLine = ({ name, deprecated }: EnumMember): string =>
  deprecated ? `  ${name} @deprecated(reason: "${DEPRECATED}")` : `  ${name}`;

/** A member of a FieldsEnum: the path of a field. */
interface EnumMember {
  /** The path, with `___` between its segments. */
  readonly name: string;
  readonly deprecated: boolean;
}

/** Whether filters, sorts and groups can use a field: not if its resolver requires arguments. */
const isQueryable = (field: RecordField): boolean => field.kind !== 'computed' || field.needsArguments !== true;

/** Returns the fields inside a field: those of its object, or of the related record; empty for a scalar. */
type InnerFields = (field: RecordField) => readonly RecordField[];

/** The limit of segments in a path, without which `parent___parent___…` would be endless. */
const MAX_SEGMENTS = 4;

/** Creates the lookup of fields inside fields. `Node` has the fields that all record types share. */
export function createInnerFields(tables: readonly RecordTable[], nodeFields: readonly RecordField[]): InnerFields {
  const kinds = new Map([['Node', nodeFields], ...tables.map(({ kind, fields }) => [kind, fields] as const)]);
  return (field) => {
    if (field.kind === 'scalar') return [];
    return field.kind === 'relation' ? (kinds.get(field.type) ?? []) : field.fields;
  };
}

/**
 * Lists the members of a FieldsEnum, with the fields of an object in the position of the object.
 *
 * A list is a member in addition to its inner fields; a single object is not. In the last segment, lists are included
 * and single objects are omitted. The first field with arguments deprecates itself and everything after it on its
 * level, including inner fields: the original server does so, and its queries must see the same schema.
 */
export function listMembers(
  fields: readonly RecordField[],
  inner: InnerFields,
  segments = 1,
  inherited = false,
): EnumMember[] {
  let deprecated = inherited;
  return fields.filter(isQueryable).flatMap((field) => {
    deprecated ||= field.kind === 'computed' && field.hasArguments;
    const within = inner(field);
    const own = within.length === 0 || field.list ? [{ name: field.name, deprecated }] : [];
    const deeper = segments < MAX_SEGMENTS ? listMembers(within, inner, segments + 1, deprecated) : [];
    return [...own, ...deeper.map((member) => ({ ...member, name: `${field.name}___${member.name}` }))];
  });
}

/** Type name → its fields, in the order in which filters first refer to the types. */
type FilteredTypes = ReadonlyMap<string, readonly RecordField[]>;

/** Lists the types whose filters the given fields refer to, directly or indirectly. */
function listFiltered(
  fields: readonly RecordField[],
  inner: InnerFields,
  found = new Map<string, readonly RecordField[]>(),
): FilteredTypes {
  for (const field of fields.filter(isQueryable)) {
    const within = inner(field);
    if (within.length === 0 || found.has(field.type)) continue;
    found.set(field.type, within);
    listFiltered(within, inner, found);
  }
  return found;
}

/** Returns the type of the filter on a field. A list of objects has a filter on its elements. */
export function getFilterType(field: RecordField, inner: InnerFields): string {
  if ('declared' in field && field.declared !== undefined) return operatorInputName(field.declared);
  if (inner(field).length === 0) return OPERATOR_INPUTS[field.type as keyof typeof OPERATOR_INPUTS];
  return `${field.type}${field.list ? 'FilterListInput' : 'FilterInput'}`;
}

export const deriveFilterInput = (type: string, fields: readonly RecordField[], inner: InnerFields): string =>
  printFilter(type, membersOf(fields, inner));

const COMBINATIONS = [
  { name: 'or', list: true, description: 'At least one of these filters must match; an empty list matches no record.' },
  { name: 'not', list: false, description: 'This filter must not match; `{}` has no effect.' },
] as const;

/** Derives the filter of a record type, which supports `or` and `not` unless a field has that name. */
export function deriveRecordFilter(kind: string, fields: readonly RecordField[], inner: InnerFields): string {
  const combinations = COMBINATIONS.filter(({ name }) => fields.every((field) => field.name !== name)).map(
    ({ name, list, description }) =>
      `  "${description}"\n  ${name}: ${list ? `[${kind}FilterInput!]` : `${kind}FilterInput`}`,
  );
  return printFilter(kind, [...membersOf(fields, inner), ...combinations]);
}

const membersOf = (fields: readonly RecordField[], inner: InnerFields): string[] =>
  fields.filter(isQueryable).map((field) => `  ${field.name}: ${getFilterType(field, inner)}`);

const printFilter = (type: string, members: readonly string[]): string => `
"Conditions on ${type}, all of which must match."
input ${type}FilterInput {
${members.join('\n')}
}`;

const deriveFilterListInput = (type: string): string => `
"A condition on a list of ${type}."
input ${type}FilterListInput {
  "At least one element must match all of these conditions."
  elemMatch: ${type}FilterInput
}`;

/** Lists one field of each enum and of each scalar of the application that filters compare. */
function listDeclared(fields: readonly RecordField[], inner: InnerFields): readonly DeclaredField[] {
  const declared = new Map<string, DeclaredField>();
  const visit = (field: RecordField): void => {
    if (!isQueryable(field)) return;
    if ('declared' in field && field.declared !== undefined) declared.set(field.declared, field as DeclaredField);
    if (field.kind !== 'relation') inner(field).forEach(visit);
  };
  fields.forEach(visit);
  return [...declared.values()];
}

const DATE_ARGUMENTS = parse(
  `type _ { _(
    "Returns the time from the date to now in this unit: years, months, weeks, days, hours, minutes or seconds; any other text gives milliseconds."
    difference: String
    "Formats the date, such as \`YYYY-MM-DD\`."
    formatString: String
    "Returns the time relative to now, such as \`5 days ago\`."
    fromNow: Boolean
    "The language of month names and relative times, such as \`de\`."
    locale: String
  ): Int }`,
  { noLocation: true },
);

/**
 * Returns the schema that clients see: the derived types, then the hand-written types with the arguments of dates added
 * and without the directives of the generator.
 */
export const publishSchema = (written: readonly DefinitionNode[], derived: string): string =>
  `${derived.trim()}\n\n${print(publishWritten(written))}\n`;

function publishWritten(written: readonly DefinitionNode[]): DocumentNode {
  return visit({ kind: Kind.DOCUMENT, definitions: written } as DocumentNode, {
    DirectiveDefinition: ({ name }) => (GENERATOR_DIRECTIVES.includes(name.value) ? null : undefined),
    Directive: ({ name }) => (GENERATOR_DIRECTIVES.includes(name.value) ? null : undefined),
    FieldDefinition: (field) => (isFormatted(field) ? { ...field, arguments: dateArguments() } : undefined),
  });
}

const isFormatted = ({ directives, arguments: args = [] }: FieldDefinitionNode): boolean =>
  args.length === 0 && directives?.some(({ name }) => name.value === 'dateformat') === true;

function dateArguments() {
  const [type] = DATE_ARGUMENTS.definitions;
  return type?.kind === Kind.OBJECT_TYPE_DEFINITION ? type.fields?.[0]?.arguments : undefined;
}

/** A field whose values are those of an enum, or of a scalar of the application. */
type DeclaredField = Extract<RecordField, { readonly declared?: string }> & { readonly declared: string };

const EQUALITY = ['eq', 'ne', 'in', 'nin'];
const ORDER = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'];
const TEXT = [...EQUALITY, 'regex', 'glob'];

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  eq: 'Equal to this value; `null` matches a missing value.',
  ne: 'Not equal to this value; a missing value differs from every value.',
  gt: 'Greater than this value.',
  gte: 'Greater than or equal to this value.',
  lt: 'Less than this value.',
  lte: 'Less than or equal to this value.',
  in: 'Equal to one of these values.',
  nin: 'Not equal to any of these values.',
  regex: 'Matches this regular expression, written as `/source/flags`.',
  glob: 'Matches this glob pattern as a whole, such as `docs/**/*.md`.',
};

/** Derives the filter inputs of all scalar types, and the types for sorting records and groups. */
const deriveOperators = (): string =>
  [
    operatorInput('String', TEXT),
    ...['Int', 'Float', 'Date'].map((type) => operatorInput(type as 'Int', ORDER)),
    operatorInput('Boolean', EQUALITY),
    `
"The direction of a sort."
enum ${SORT_ORDER} {
  "Smallest values first, records without a value last."
  ASC
  "Records without a value first, then the largest values."
  DESC
}`,
    `
"The order of groups. Groups with equal sort keys are sorted by value, ascending."
input ${GROUP_SORT} {
  "The sort key."
  by: ${GROUP_SORT_KEY}! = VALUE
  "The direction."
  order: ${SORT_ORDER}! = ASC
}`,
    `
"The sort keys of groups."
enum ${GROUP_SORT_KEY} {
  "The number of records in the group."
  COUNT
  "The value that the records share, as text."
  VALUE
}`,
  ].join('\n');

const operatorInput = (
  type: string,
  operators: readonly string[],
  name: string = OPERATOR_INPUTS[type as keyof typeof OPERATOR_INPUTS],
): string => `
"Conditions on a ${type}, all of which must match. A list matches if one of its elements does."
input ${name} {
${operators.map((name) => `  "${DESCRIPTIONS[name] ?? ''}"\n  ${name}: ${name.endsWith('in') ? `[${type}]` : type}`).join('\n')}
}`;

/** Derives the filter input of an enum, or of a scalar of the application, whose stored numbers have an order. */
function deriveDeclaredOperators({ declared, type, values }: DeclaredField): string {
  const isNumber = values === undefined && ['Int', 'Float'].includes(type);
  return operatorInput(declared, isNumber ? ORDER : EQUALITY, operatorInputName(declared));
}
