/** A family of queries that try to exhaust one resource, with a query for each index. */
interface Family {
  readonly tries: string;
  readonly make: (index: number) => MaliciousQuery;
}

export interface MaliciousQuery {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const times = (count: number, text: (index: number) => string, separator = ' '): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const withFilter = (filter: unknown, answer = 'totalCount'): MaliciousQuery => ({
  query: `query ($filter: FileFilterInput) { allFile(filter: $filter) { ${answer} } }`,
  variables: { filter },
});

const REGEXES = [
  '/^(a+)+$/',
  '/(a|aa)+$/',
  '/(.*)*x$/',
  '/^(([a-z])+.)+[A-Z]([a-z])+$/',
  '/(x+x+)+y/',
  `/${'(a?)'.repeat(40)}${'a'.repeat(40)}/`,
  '/((a{1,30}){1,30}){1,30}$/',
  `/${'.*'.repeat(60)}q/`,
  '/(?=(a+))a*b\\1/',
  `/[^]{500}|${'\\w+\\s?'.repeat(50)}$/i`,
];

const GLOBS = [
  '../../../../etc/*',
  '/etc/passwd',
  '**/**/**/**/**/**/**/**/**/x',
  '*'.repeat(400),
  `{${times(60, (index) => `a${index}`, ',')}}`.repeat(4),
  '{1..100000000}',
  '!(*(a)*(b)*(c))',
  '+(+(+(+(a)+(b))))',
  '[[:alpha:]-\\u0000]*',
  '{a,b}'.repeat(60),
];

/** Numbers at and beyond the bounds of the types. */
const NUMBERS = ['2147483647', '-2147483648', '1e309', '9'.repeat(400), '0.1', '-0', '1e-400', '2147483648'];

const nestedFilter = (levels: number, leaf: unknown): unknown =>
  levels === 0
    ? leaf
    : { children: { elemMatch: { parent: { children: { elemMatch: nestedFilter(levels - 1, leaf) as object } } } } };

const parents = (levels: number, leaf: unknown): unknown =>
  levels === 0 ? leaf : { parent: parents(levels - 1, leaf) };

const chained = (levels: number, answer: string): string =>
  levels === 0 ? answer : `parent { children { ${chained(levels - 1, answer)} } }`;

const SORTS = [
  'relativePath',
  'size',
  'mtime',
  'parent___id',
  'internal___contentDigest',
  'children___id',
  'publicURL',
];

export const MALICIOUS_QUERY_FAMILIES: readonly Family[] = [
  {
    tries: 'fields that nest deeply',
    make: (index) => ({ query: `{ allFile { nodes { ${chained(3 + index * 60, 'id')} } } }` }),
  },
  {
    tries: 'relations that multiply',
    make: (index) => ({
      query: `{ ${pick(['allFile', 'allImageProc', 'allDirectory'], index)} { nodes { ${chained(1 + (index % 8), 'id')} } } }`,
    }),
  },
  {
    tries: 'children of children below edges',
    make: (index) => ({
      query: `{ allImageProc { edges { ${times(1 + (index % 3), (one) => `${pick(['node', 'next', 'previous'], one)} { children { ${chained(1, 'id internal { type contentDigest }')} } }`)} } } }`,
    }),
  },
  {
    tries: 'many fields in one selection',
    make: (index) => ({ query: `{ allFile { nodes { ${times(50 * (index + 1), () => 'name')} } } }` }),
  },
  {
    tries: 'many aliases of one field',
    make: (index) => ({
      query: `{ allFile { nodes { ${times(10 * (index + 1), (one) => `${'a'.repeat(index * 100)}a${one}: absolutePath`)} } } }`,
    }),
  },
  {
    tries: 'many root fields',
    make: (index) => ({
      query: `{ ${times(10 * (index + 1), (one) => `q${one}: allFile(filter: { name: { regex: "/[a-f]+.*${one}$/" } }) { totalCount }`)} }`,
    }),
  },
  {
    tries: 'cycles of fragments',
    make: (index) => ({
      query: `{ allFile { nodes { ...F0 } } } ${times(index + 1, (one) => `fragment F${one} on File { id parent { ... on File { ...F${(one + 1) % (index + 1)} } } }`)}`,
    }),
  },
  {
    tries: 'fragments that multiply',
    make: (index) => ({
      query: `{ allFile { nodes { ...F0 } } } ${times(8 + index * 20, (one) => `fragment F${one} on File { ...F${one + 1} ...F${one + 1} a${one}: id }`)} fragment F${8 + index * 20} on File { id }`,
    }),
  },
  {
    tries: 'pairs of fields to compare',
    make: (index) => ({
      query: `{ ${times(20 + index * 30, (one) => `allFile(filter: { name: { eq: "${'x'.repeat(one * 10)}" } }) { nodes { ${times(3, () => 'parent { id }')} } }`)} }`,
    }),
  },
  {
    tries: 'catastrophic regexes',
    make: (index) => withFilter({ relativePath: { regex: pick(REGEXES, index) } }, 'totalCount nodes { id }'),
  },
  {
    tries: 'path tricks and explosions in globs',
    make: (index) => withFilter({ absolutePath: { glob: pick(GLOBS, index) } }, 'totalCount nodes { absolutePath }'),
  },
  {
    tries: 'long lists of operands',
    make: (index) => {
      const list = Array.from({ length: 1000 * (index + 1) }, (_, one) => `name-${one}`);
      return withFilter({ name: { in: list }, base: { nin: list }, ext: { nin: list }, dir: { nin: list } });
    },
  },
  {
    tries: 'huge numbers',
    make: (index) => ({
      query: `{ allFile(skip: ${pick(['0', ...NUMBERS], index)}, limit: ${pick(NUMBERS, index)}, filter: { size: { gt: ${pick(NUMBERS, index + 3)} } }) { totalCount pageInfo { pageCount currentPage } nodes { size } } }`,
    }),
  },
  {
    tries: 'many fields to sort by',
    make: (index) => ({
      query: `query ($sort: FileSortInput) { allFile(sort: $sort) { nodes { id } } }`,
      variables: {
        sort: {
          fields: Array.from({ length: 3 * (index + 1) }, (_, one) => pick(SORTS, one)),
          order: Array.from({ length: 3 * (index + 1) }, (_, one) => (one % 2 ? 'ASC' : 'DESC')),
        },
      },
    }),
  },
  {
    tries: 'one group per record',
    make: (index) => ({
      query: `{ allFile { ${times(1 + index, (one) => `g${one}: group(field: ${pick(['id', 'relativePath', 'absolutePath'], one)}) { fieldValue totalCount nodes { id name } edges { next { id } } }`)} } }`,
    }),
  },
  {
    tries: 'distinct values of every field',
    make: (index) => ({
      query: `{ allFile { ${times(5 * (index + 1), (one) => `d${one}: distinct(field: ${pick(['id', 'relativePath', 'mtime', 'size', 'parent___id', 'children___id', 'internal___contentDigest'], one)})`)} } }`,
    }),
  },
  {
    tries: 'filters across relations',
    make: (index) =>
      withFilter(
        index % 2 ? nestedFilter((index + 1) / 2, { id: { eq: 'x' } }) : parents(index * 4, { id: { eq: 'x' } }),
      ),
  },
  {
    tries: 'many conditions',
    make: (index) =>
      withFilter({
        or: Array.from({ length: 50 * 3 ** (index % 5) }, (_, one) => ({ not: { name: { glob: `*${one}*` } } })),
      }),
  },
  {
    tries: 'long text',
    make: (index) =>
      pick(
        [
          withFilter({ name: { eq: 'x'.repeat(900_000) } }),
          { query: `{ ${'x'.repeat(900_000)} }` },
          { query: `# ${'x'.repeat(900_000)}\n{ __typename }` },
          { query: `{ allFile { nodes { mtime(formatString: "${'YYYY [long] '.repeat(5000)}") } } }` },
          { query: `{ allFile { nodes { ${times(40, (one) => `d${one}: mtime(fromNow: true, locale: "de")`)} } } }` },
          { query: '{'.repeat(900_000) },
        ],
        index,
      ),
  },
  {
    tries: 'repeated introspection',
    make: (index) => ({
      query: `{ __schema { types { ${times(10 * (index + 1), (one) => `f${one}: fields { name args { name type { name } } type { name fields { name description } } }`)} } } }`,
    }),
  },
];

/** Returns ten queries of each family. */
export const listMaliciousQueries = (): readonly (MaliciousQuery & { readonly tries: string })[] =>
  MALICIOUS_QUERY_FAMILIES.flatMap(({ tries, make }) =>
    Array.from({ length: 10 }, (_, index) => ({ tries, ...make(index) })),
  );
