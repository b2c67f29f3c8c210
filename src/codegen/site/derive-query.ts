import type { RecordTable } from '../../site/fields.js';
import { filterType } from './derive-filters.js';
import type { Inner } from './derive-members.js';

/** The root type: for each kind the query of one record, then that of many. */
export const deriveQuery = (tables: readonly RecordTable[], inner: Inner): string => `
"The data of the site."
type Query {
${tables.map((table) => queryPair(table, inner)).join('\n')}
}`;

const queryPair = ({ kind, single, all, fields }: RecordTable, inner: Inner): string => `
  "The first ${kind} for which all conditions hold."
  ${single}(
${fields.map((field) => `    ${field.name}: ${filterType(field, inner)}`).join('\n')}
  ): ${kind}
  "All records of ${kind}, or those that a filter leaves."
  ${all}(
    "Conditions, all of which must hold."
    filter: ${kind}FilterInput
    "The order of the records; that of their creation unless named."
    sort: ${kind}SortInput
    "The number of records to leave out at the start."
    skip: Int
    "The most records to give."
    limit: Int
  ): ${kind}Connection!`;
