import type { SiteQuery } from './site-queries.js';

/** The highest cost of a query over many files: a multiple of its cost over few, or milliseconds. */
export interface ScaleQuery extends SiteQuery {
  readonly bound: { readonly times: number } | { readonly milliseconds: number };
}

const FIELDS = 'id relativePath name base extension size prettySize mtime birthTime relativeDirectory';
const EXTENSIONS = ['md', 'json', 'txt', 'html', 'css'].map((extension) => ({ extension }));

const page = (name: string, args: string, variables: ScaleQuery['variables'] = [{}], declared = ''): ScaleQuery => ({
  name,
  query: `query page${declared} { allFile(${args}, limit: 20) { nodes { ${FIELDS} } } }`,
  variables,
  bound: { times: 2 },
});

const count = (name: string, filter: string, variables: ScaleQuery['variables'] = [{}], declared = ''): ScaleQuery => ({
  name,
  query: `query count${declared} { allFile(filter: {${filter}}) { totalCount } }`,
  variables,
  bound: { milliseconds: 20 },
});

const EXTENSION = '($extension: String)';

export const SCALE_QUERIES: readonly ScaleQuery[] = [
  page(
    'one field, sorted',
    'filter: {extension: {eq: $extension}}, sort: {fields: [size], order: [DESC]}',
    EXTENSIONS,
    EXTENSION,
  ),
  page('one field, sorted by two', 'filter: {extension: {in: ["md", "txt"]}}, sort: {fields: [extension, name]}'),
  page('a range, sorted by it', 'filter: {size: {gt: 2000}}, sort: {fields: [size]}'),
  page('a range, sorted by another', 'filter: {size: {gt: 2000}}, sort: {fields: [name]}'),
  page(
    'two fields, sorted',
    'filter: {extension: {eq: $extension}, size: {gt: 500}}, sort: {fields: [mtime], order: [DESC]}',
    EXTENSIONS,
    EXTENSION,
  ),
  page(
    'two fields, one nested',
    'filter: {extension: {ne: "md"}, internal: {mediaType: {eq: "text/css"}}}, sort: {fields: [base]}',
  ),
  page(
    'two fields, few matches',
    'filter: {extension: {eq: $extension}, size: {gt: 60000}}, sort: {fields: [relativePath]}',
    EXTENSIONS,
    EXTENSION,
  ),
  page(
    'a pattern and a field, sorted',
    'filter: {name: {regex: "/1$/"}, extension: {eq: "md"}}, sort: {fields: [size]}',
  ),
  page('a pattern with few matches', 'filter: {relativePath: {glob: "**/*77.md"}}, sort: {fields: [size]}'),
  page('no filter, sorted, far page', 'skip: 500, sort: {fields: [mtime], order: [DESC]}'),
  page('a nested pattern', 'filter: {internal: {mediaType: {glob: "text/*"}}}, sort: {fields: [base]}'),
  {
    name: 'neighbours',
    query: `{ allFile(filter: {extension: {eq: "md"}}, sort: {fields: [mtime]}, limit: 20) { edges { node { name } next { name } previous { name } } } }`,
    variables: [{}],
    bound: { times: 2 },
  },
  {
    name: 'groups with three records each',
    query: `{ allFile(sort: {fields: [size]}) { group(field: extension, limit: 3) { fieldValue totalCount nodes { name size } } } }`,
    variables: [{}],
    bound: { times: 2 },
  },
  {
    name: 'distinct values',
    query: `{ allFile { distinct(field: extension) } }`,
    variables: [{}],
    bound: { times: 2 },
  },
  count('count of one field', 'extension: {eq: $extension}', EXTENSIONS, EXTENSION),
  count('count of two fields', 'extension: {eq: $extension}, size: {gt: 500}', EXTENSIONS, EXTENSION),
  count('count of a range', 'size: {gt: 700, lte: 40000}'),
  count('count of other values', 'extension: {ne: "md"}'),
  count('count of dates', 'mtime: {gte: "2020", lt: "2100"}'),
  { ...count('regex over all names', 'name: {regex: "/[0-9]+1$/i"}'), bound: { milliseconds: 150 } },
  { ...count('glob over all paths', 'relativePath: {glob: "**/*1.{md,txt}"}'), bound: { milliseconds: 150 } },
];
