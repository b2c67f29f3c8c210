import { GROUP_SORT } from './names.js';

/** Derives the result types of the query for many records of a type, and the input for their order. */
export const deriveConnection = (kind: string): string => `
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
  previous: ${kind}
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
