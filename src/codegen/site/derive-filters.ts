import type { Field } from '../../site/fields.js';
import type { Inner } from './derive-members.js';
import { OPERATOR_INPUTS } from './names.js';

/** Types by name, with their fields, in the order in which filters first need them. */
export type FilteredTypes = ReadonlyMap<string, readonly Field[]>;

/** The types whose filters the given fields name, directly or through others. */
export function listFiltered(
  fields: readonly Field[],
  inner: Inner,
  found = new Map<string, readonly Field[]>(),
): FilteredTypes {
  for (const field of fields) {
    const within = inner(field);
    if (within.length === 0 || found.has(field.type)) continue;
    found.set(field.type, within);
    listFiltered(within, inner, found);
  }
  return found;
}

/** The type of a filter on a field; a list of objects is filtered by what one of its elements is. */
export function filterType(field: Field, inner: Inner): string {
  if (inner(field).length === 0) return OPERATOR_INPUTS[field.type as keyof typeof OPERATOR_INPUTS];
  return `${field.type}${field.list ? 'FilterListInput' : 'FilterInput'}`;
}

export const deriveFilterInput = (type: string, fields: readonly Field[], inner: Inner): string =>
  printFilter(type, membersOf(fields, inner));

const COMBINATIONS = [
  { name: 'or', list: true, description: 'At least one of these holds; an empty list leaves no record.' },
  { name: 'not', list: false, description: 'Not all of these hold; `{}` is no condition.' },
] as const;

/** Those of a kind can be combined, but by a name that is a field's. */
export function deriveRecordFilter(kind: string, fields: readonly Field[], inner: Inner): string {
  const combinations = COMBINATIONS.filter(({ name }) => fields.every((field) => field.name !== name)).map(
    ({ name, list, description }) =>
      `  "${description}"\n  ${name}: ${list ? `[${kind}FilterInput!]` : `${kind}FilterInput`}`,
  );
  return printFilter(kind, [...membersOf(fields, inner), ...combinations]);
}

const membersOf = (fields: readonly Field[], inner: Inner): string[] =>
  fields.map((field) => `  ${field.name}: ${filterType(field, inner)}`);

const printFilter = (type: string, members: readonly string[]): string => `
"Conditions on ${type}, all of which must hold."
input ${type}FilterInput {
${members.join('\n')}
}`;

export const deriveFilterListInput = (type: string): string => `
"A condition on a list of ${type}."
input ${type}FilterListInput {
  "One element for which all of these hold."
  elemMatch: ${type}FilterInput
}`;
