/** The part of an error of graphql-js that hints need. */
interface QueryError {
  readonly message: string;
  readonly nodes?: readonly { readonly loc?: SourceRange }[];
}

interface SourceRange {
  readonly start: number;
  readonly end: number;
  readonly source: { readonly body: string };
}

/**
 * Returns a sentence with the form of Trellis for an error in a query that is written for Gatsby, whose query language
 * is similar. Returns `undefined` for all other errors.
 */
export function findGatsbyHint({ message, nodes }: QueryError): string | undefined {
  for (const [pattern, toHint] of HINTS) {
    const match = pattern.exec(message);
    if (match) return toHint(match[1] ?? '', readSource(nodes?.[0]?.loc));
  }
  return undefined;
}

/** Returns the message of an error in a query, with the form of Trellis if the query is written for Gatsby. */
export function describeQueryError(error: QueryError): string {
  const hint = findGatsbyHint(error);
  return hint === undefined ? error.message : `${error.message} ${hint}`;
}

const readSource = (loc: SourceRange | undefined): string => loc?.source.body.slice(loc.start, loc.end) ?? '';

const NO_FRONTMATTER = 'The values of the front matter are fields of the record itself.';
const NO_FIELDS = 'A field of createNodeField is a field of the record itself, such as slug: String! @slug.';
const BY_GLOB = 'The files of a record type are those of its glob, such as @source(glob: "blog/*.md").';
const OF_PROJECT =
  'Query a record type of the project, such as allPost of type Post implements Node @record @source(glob: "posts/*.md").';
const RENDERED =
  'Rendered text is in a field of the type Markdown, such as content { html } of content: Markdown @markdown.';

/** The first matching pattern counts. A hint receives the first group, and the text of the node in the query. */
const HINTS: readonly (readonly [pattern: RegExp, toHint: (name: string, text: string) => string | undefined])[] = [
  [/^Field "\w+" is not defined by type "(?!GroupSortInput)\w+SortInput"/, (_name, text) => hintSort(text)],
  [/^Expected value of type "\w+SortInput", found \[/, (_name, text) => hintSort(text)],
  [/^Enum "\w+FieldsEnum" cannot represent non-enum value: (\{.*)/s, (value) => hintField(value)],
  [
    /^Value "(?:frontmatter|fields)___(\w+)" does not exist in "\w+FieldsEnum"/,
    (path) => `${NO_FRONTMATTER} Write ${path}.`,
  ],
  [/^(?:Cannot query field|Field|Unknown argument) "frontmatter"/, () => NO_FRONTMATTER],
  [
    /^Cannot query field "fields"|^Unknown argument "fields" on field "Query\.(?!all)|^Field "fields" .* "\w+FilterInput"/,
    () => NO_FIELDS,
  ],
  [/^(?:Field|Unknown argument) "fileAbsolutePath"/, () => BY_GLOB],
  [/^Cannot query field "fileAbsolutePath"/, () => 'Write parent { ... on File { absolutePath } }.'],
  [/^Cannot query field "(?:all)?(?:markdownRemark|mdx)" on type "Query"/i, () => OF_PROJECT],
  [
    /^Cannot query field "child(?:ren)?(?:MarkdownRemark|Mdx)" on type "File"/,
    () => 'Add a field for the records of a type: extend type File { post: Post @child }.',
  ],
  [/^Cannot query field "gatsbyImageData"/, () => 'Use fluid, fixed or resize.'],
  [
    /^Cannot query field "(?:html|excerpt|headings|tableOfContents|timeToRead|wordCount)" on type "(?!Query")/,
    () => RENDERED,
  ],
  [/^Cannot query field "raw(?:Markdown)?Body"/, () => 'The text is the field body, if the type declares it.'],
  [
    /^Cannot query field "(\w+)" on type "SiteSiteMetadata"/,
    (name) => `Declare it in schema/: extend type SiteSiteMetadata { ${name}: String }.`,
  ],
  [
    /^Cannot query field "(?:max|min)" on type "\w+Connection"/,
    () => 'For the greatest or least value, sort by the field with limit: 1.',
  ],
  [/^Unknown argument "pruneLength"/, () => 'Write excerpt(length: 160).'],
  [
    /^Unknown fragment "Gatsby(?:ImageSharp|Contentful|Sanity)\w*"/,
    () =>
      'Define it in the query, such as fragment GatsbyImageSharpFluid on ImageProcFluid { base64 aspectRatio src srcSet sizes }.',
  ],
];

/** Returns the paths in an object of Gatsby 5, such as `{frontmatter: {date: DESC}}`, with their values. */
function listLeaves(text: string): { readonly path: string; readonly value: string }[] {
  const above: string[] = [];
  const leaves: { path: string; value: string }[] = [];
  for (const [token, object, name = '', value = ''] of text.matchAll(/(\w+)\s*:\s*\{|(\w+)\s*:\s*(\w+)|\}/g)) {
    if (object !== undefined) above.push(object);
    else if (token === '}') above.pop();
    else leaves.push({ path: [...above, name].filter((step) => !CONTAINERS.includes(step)).join('___'), value });
  }
  return leaves;
}

/** The objects of a Gatsby record whose values are fields of the record itself in Trellis. */
const CONTAINERS: readonly string[] = ['frontmatter', 'fields'];

const FORM = 'Trellis has the form of Gatsby 4';

function hintSort(text: string): string {
  const sorts = listLeaves(text);
  const [fields, order] = [sorts.map(({ path }) => path), sorts.map(({ value }) => value)];
  return sorts.length === 0
    ? `${FORM}, such as sort: {fields: [date], order: [DESC]}.`
    : `${FORM}: sort: {fields: [${fields.join(', ')}], order: [${order.join(', ')}]}.`;
}

function hintField(text: string): string | undefined {
  const [leaf] = listLeaves(text);
  return leaf && `${FORM}: field: ${leaf.path}.`;
}
