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

export const deriveFilterInput = (type: string, fields: readonly Field[], inner: Inner): string => `
"Conditions on ${type}, all of which must hold."
input ${type}FilterInput {
${fields.map((field) => `  ${field.name}: ${filterType(field, inner)}`).join('\n')}
}`;

export const deriveFilterListInput = (type: string): string => `
"A condition on a list of ${type}."
input ${type}FilterListInput {
  "One element for which all of these hold."
  elemMatch: ${type}FilterInput
}`;
