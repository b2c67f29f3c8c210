import { GROUP_SORT } from './names.js';

/** The types that a query of many records of a kind answers with, and the input that orders them. */
export const deriveConnection = (kind: string): string => `
"Records of ${kind}, one page of those that match."
type ${kind}Connection {
  "The number of records that match, on all pages together."
  totalCount: Int!
  "The records of the page, each with its neighbours."
  edges: [${kind}Edge!]!
  "The records of the page."
  nodes: [${kind}!]!
  "Where the page stands."
  pageInfo: PageInfo!
  "The values of a field on the page as text, each once, in the order of text."
  distinct(field: ${kind}FieldsEnum!): [String!]!
  "The records of the page by the value of a field; records without one are in no group."
  group(
    "The number of records to leave out at the start of each group."
    skip: Int
    "The most records to give of each group."
    limit: Int
    "The field whose values make the groups."
    field: ${kind}FieldsEnum!
    "The order of the groups; by value, ascending, unless named."
    sort: ${GROUP_SORT}
  ): [${kind}GroupConnection!]!
}

"A ${kind} among its neighbours on the page."
type ${kind}Edge {
  "The record after this one."
  next: ${kind}
  "The record."
  node: ${kind}!
  "The record before this one."
  previous: ${kind}
}

"Records of ${kind} that have one value of a field in common."
type ${kind}GroupConnection {
  "The number of records in the group."
  totalCount: Int!
  "The records of the group, each with its neighbours."
  edges: [${kind}Edge!]!
  "The records of the group."
  nodes: [${kind}!]!
  "Where the records given stand in the group."
  pageInfo: PageInfo!
  "The path of the field, with dots between its steps."
  field: String!
  "The value that the records have in common, as text."
  fieldValue: String
}

"How to order records of ${kind}: by the first field, then by the second, and so on."
input ${kind}SortInput {
  "The fields to order by."
  fields: [${kind}FieldsEnum]
  "The direction of each field; ascending where none is given."
  order: [SortOrderEnum] = [ASC]
}`;
