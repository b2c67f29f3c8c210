import type { RecordTable } from '../../core/record-types.js';
import { getFilterType } from './derive-filters.js';
import type { InnerFields } from './derive-members.js';

/** Derives the type Query: for each record type, the query of one record and that of many. */
export const deriveQuery = (tables: readonly RecordTable[], inner: InnerFields): string => `
"The data of the site."
type Query {
${tables.map((table) => queryPair(table, inner)).join('\n')}
}`;

const queryPair = ({ kind, single, all, fields }: RecordTable, inner: InnerFields): string => `
  "The first ${kind} record that matches all conditions."
  ${single}(
${fields.map((field) => `    ${field.name}: ${getFilterType(field, inner)}`).join('\n')}
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
    limit: Int
  ): ${kind}Connection!`;
