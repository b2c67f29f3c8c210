import { findGatsbyHint } from '@trellis/core/gatsby-hints';
import { buildSchema, parse, validate } from 'graphql';

const schema = buildSchema(`
  enum PostFieldsEnum { date title tags author___name }
  enum SortOrderEnum { ASC DESC }
  input PostSortInput { fields: [PostFieldsEnum], order: [SortOrderEnum] = [ASC] }
  input PostFilterInput { title: String }
  type Markdown { html: String!, excerpt(length: Int): String! }
  type Post { title: String, content: Markdown }
  input GroupSortInput { by: String }
  type PostConnection {
    nodes: [Post!]!
    distinct(field: PostFieldsEnum!): [String!]!
    group(field: PostFieldsEnum!, sort: GroupSortInput): [String!]!
  }
  type ImageProcFluid { src: String! }
  type ImageProc { fluid: ImageProcFluid }
  type File { childImageProc: ImageProc }
  type SiteSiteMetadata { title: String }
  type Query {
    allPost(sort: PostSortInput, filter: PostFilterInput): PostConnection!
    post(title: String): Post
    file: File
    metadata: SiteSiteMetadata
  }
`);

const listHints = (query: string) => validate(schema, parse(query)).map((error) => findGatsbyHint(error));

const SORT = 'Trellis has the form of Gatsby 4: sort: ';

test.each([
  ['a sort', '{ allPost(sort: {date: DESC}) { nodes { title } } }', `${SORT}{fields: [date], order: [DESC]}.`],
  [
    'a sort by front matter',
    '{ allPost(sort: { frontmatter: { date: DESC } }) { nodes { title } } }',
    `${SORT}{fields: [date], order: [DESC]}.`,
  ],
  [
    'a sort by a linked record',
    '{ allPost(sort: {author: {name: ASC}}) { nodes { title } } }',
    `${SORT}{fields: [author___name], order: [ASC]}.`,
  ],
  [
    'a list of sorts',
    '{ allPost(sort: [{frontmatter: {date: DESC}}, {title: ASC}]) { nodes { title } } }',
    `${SORT}{fields: [date, title], order: [DESC, ASC]}.`,
  ],
  [
    'a sort by a variable',
    'query ($order: SortOrderEnum) { allPost(sort: {date: $order}) { nodes { title } } }',
    'Trellis has the form of Gatsby 4, such as sort: {fields: [date], order: [DESC]}.',
  ],
  [
    'a selected field',
    '{ allPost { distinct(field: {frontmatter: {tags: SELECT}}) } }',
    'Trellis has the form of Gatsby 4: field: tags.',
  ],
  [
    'a path through front matter',
    '{ allPost(sort: {fields: [frontmatter___date]}) { nodes { title } } }',
    'The values of the front matter are fields of the record itself. Write date.',
  ],
  [
    'a filter by front matter',
    '{ allPost(filter: {frontmatter: {title: {eq: "A"}}}) { nodes { title } } }',
    'The values of the front matter are fields of the record itself.',
  ],
  [
    'a filter by a path',
    '{ allPost(filter: {fileAbsolutePath: {regex: "/blog/"}}) { nodes { title } } }',
    'The files of a record type are those of its glob, such as @source(glob: "blog/*.md").',
  ],
  [
    'front matter',
    '{ post { frontmatter { title } } }',
    'The values of the front matter are fields of the record itself.',
  ],
  [
    'a filter by a field of createNodeField',
    '{ allPost(filter: {fields: {slug: {eq: "a"}}}) { nodes { title } } }',
    'A field of createNodeField is a field of the record itself, such as slug: String! @slug.',
  ],
  [
    'a field of createNodeField',
    '{ post(fields: {slug: {eq: "a"}}) { title } }',
    'A field of createNodeField is a field of the record itself, such as slug: String! @slug.',
  ],
  [
    'a query of Markdown files',
    '{ allMarkdownRemark { nodes { id } } }',
    'Query a record type of the project, such as allPost of type Post implements Node @record @source(glob: "posts/*.md").',
  ],
  [
    'a child of a file',
    '{ file { childMdx { id } } }',
    'Add a field for the records of a type: extend type File { post: Post @child }.',
  ],
  ['the data of an image', '{ file { childImageProc { gatsbyImageData } } }', 'Use fluid, fixed or resize.'],
  [
    'rendered text',
    '{ post { excerpt(pruneLength: 160) } }',
    'Rendered text is in a field of the type Markdown, such as content { html } of content: Markdown @markdown.',
  ],
  ['the path of a file', '{ post { fileAbsolutePath } }', 'Write parent { ... on File { absolutePath } }.'],
  ['the source text', '{ post { rawMarkdownBody } }', 'The text is the field body, if the type declares it.'],
  ['the length of an excerpt', '{ post { content { excerpt(pruneLength: 9) } } }', 'Write excerpt(length: 160).'],
  ['metadata', '{ metadata { siteUrl } }', 'Declare it in schema/: extend type SiteSiteMetadata { siteUrl: String }.'],
  [
    'the greatest value',
    '{ allPost { max(field: date) } }',
    'For the greatest or least value, sort by the field with limit: 1.',
  ],
  [
    'a fragment of gatsby-image',
    '{ file { childImageProc { fluid { ...GatsbyImageSharpFluid_withWebp } } } }',
    'Define it in the query, such as fragment GatsbyImageSharpFluid on ImageProcFluid { base64 aspectRatio src srcSet sizes }.',
  ],
])('the form of Gatsby for %s has a hint', (_form, query, hint) => {
  expect(listHints(query)).toEqual([hint]);
});

test.each([
  ['an unknown query', '{ posts { title } }'],
  ['an unknown field', '{ post { name } }'],
  ['an unknown member of an enum', '{ allPost { distinct(field: name) } }'],
  ['an unknown fragment', '{ post { ...Entry } }'],
  ['a sort of groups', '{ allPost { group(field: tags, sort: {fields: [COUNT]}) } }'],
  ['an argument with the name of an object of Gatsby', '{ allPost(fields: [title]) { nodes { title } } }'],
  ['text in place of an enum', '{ allPost { distinct(field: "title") } }'],
])('%s has no hint', (_error, query) => {
  expect(listHints(query)).toEqual([undefined]);
});
