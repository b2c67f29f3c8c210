/** A query of the benchmark; the constant server selects its response by the name of the operation. */
export interface SiteQuery {
  readonly name: string;
  readonly query: string;
  /** The variables of each request, sent in turns. */
  readonly variables: readonly Readonly<Record<string, unknown>>[];
}

const TEN_FIELDS = 'id relativePath name base extension size prettySize mtime birthTime relativeDirectory';

const EXTENSIONS = ['md', 'json', 'txt', 'html', 'css'];

/** More pages than the cache stores, so that each is read from the database. */
const PAGES = 2000;

/** Returns the queries of `bench/README.md` over the paths of a bench folder. */
export function siteQueries(paths: readonly string[]): SiteQuery[] {
  return [
    {
      name: 'single',
      query: `query single($path: String) { file(relativePath: {eq: $path}) { ${TEN_FIELDS} } }`,
      variables: paths.map((path) => ({ path })),
    },
    {
      name: 'page',
      query: `query page($extension: String) {
        allFile(filter: {extension: {eq: $extension}}, sort: {fields: [size], order: [DESC]}, limit: 20) {
          nodes { ${TEN_FIELDS} }
        }
      }`,
      variables: EXTENSIONS.map((extension) => ({ extension })),
    },
    {
      name: 'pages',
      query: `query pages($extension: String, $skip: Int) {
        allFile(filter: {extension: {eq: $extension}}, sort: {fields: [size], order: [DESC]}, limit: 20, skip: $skip) {
          nodes { ${TEN_FIELDS} }
        }
      }`,
      variables: Array.from({ length: PAGES }, (_, index) => ({
        extension: EXTENSIONS[index % EXTENSIONS.length],
        skip: Math.floor(index / EXTENSIONS.length),
      })),
    },
    {
      name: 'count',
      query: 'query count($extension: String) { allFile(filter: {extension: {eq: $extension}}) { totalCount } }',
      variables: EXTENSIONS.map((extension) => ({ extension })),
    },
    {
      name: 'group',
      query: 'query group { allFile { group(field: extension) { fieldValue totalCount } } }',
      variables: [{}],
    },
    {
      name: 'list',
      query: `query list { allFile(limit: 1000) { nodes { ${TEN_FIELDS} } } }`,
      variables: [{}],
    },
  ];
}
