import type { RecordField } from '../../core/record-types.js';
import type { InnerFields } from './derive-members.js';
import { OPERATOR_INPUTS } from './names.js';

/** Type name → its fields, in the order in which filters first refer to the types. */
export type FilteredTypes = ReadonlyMap<string, readonly RecordField[]>;

/** Lists the types whose filters the given fields refer to, directly or indirectly. */
export function listFiltered(
  fields: readonly RecordField[],
  inner: InnerFields,
  found = new Map<string, readonly RecordField[]>(),
): FilteredTypes {
  for (const field of fields) {
    const within = inner(field);
    if (within.length === 0 || found.has(field.type)) continue;
    found.set(field.type, within);
    listFiltered(within, inner, found);
  }
  return found;
}

/** Returns the type of the filter on a field. A list of objects has a filter on its elements. */
export function getFilterType(field: RecordField, inner: InnerFields): string {
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
  fields.map((field) => `  ${field.name}: ${getFilterType(field, inner)}`);

const printFilter = (type: string, members: readonly string[]): string => `
"Conditions on ${type}, all of which must match."
input ${type}FilterInput {
${members.join('\n')}
}`;

export const deriveFilterListInput = (type: string): string => `
"A condition on a list of ${type}."
input ${type}FilterListInput {
  "At least one element must match all of these conditions."
  elemMatch: ${type}FilterInput
}`;
