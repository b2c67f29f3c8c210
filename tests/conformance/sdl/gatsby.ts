import type { Row } from '../row.js';

const section = 'Forms of Gatsby';

const KNOWN =
  'Expected one of @alias, @child, @computed, @dateformat, @index, @link, @markdown, @record, @search, @slug, @source, @stored, @deprecated; received';

const refused = (feature: string, contract: string, ...errors: string[]): Row => ({
  section,
  feature,
  outcome: 'refused',
  contract,
  errors,
});

/** A directive of Gatsby on a type or a field, with the advice. */
const directiveRow = (directive: string, advice: string): Row => {
  const name = directive.replace(/\(.*/u, '');
  const onField = ['@proxy', '@fileByRelativePath'].includes(name);
  const contract = onField
    ? `type Post implements Node @record { cover: File ${directive} }`
    : `type Post implements Node @record ${directive} { title: String }`;
  const errors = [`1:${contract.indexOf(directive) + 1} ${KNOWN} ${name}. ${advice}`];
  return { section, feature: directive, outcome: 'refused', contract, errors };
};

export const rows: readonly Row[] = [
  directiveRow('@dontInfer', 'Delete it: a type has only the fields that it declares.'),
  directiveRow('@infer', 'Delete it, and declare all fields: a type has only these.'),
  directiveRow(
    '@childOf(types: ["File"])',
    'Delete it: the parent of a record is its file. extend type File { post: Post @child } leads to the record.',
  ),
  directiveRow('@mimeTypes(types: ["text/markdown"])', 'Write @source(glob:), which names the files.'),
  directiveRow('@nodeInterface', 'Delete it: an interface has no queries. Add one with "extend type Query".'),
  directiveRow('@proxy(from: "image")', 'Write @alias(of:) with a stored field of the same type.'),
  directiveRow('@fileByRelativePath', 'Write @link: on a field of the type File, the value is a path.'),
  refused(
    '@dateformat(formatString:)',
    'type Post implements Node @record { date: Date @dateformat(formatString: "DD") }',
    '1:60 Unknown argument "formatString" on directive "@dateformat". Queries have these arguments, such as date(formatString: "d MMMM yyyy").',
  ),
  refused(
    'type MarkdownRemark implements Node',
    'type MarkdownRemark implements Node { frontmatter: Frontmatter }\ntype Frontmatter { title: String }',
    '1:6 MarkdownRemark implements Node but lacks @record. The values of front matter are fields of a record type: type Post implements Node @record @source(glob: "posts/*.md") { title: String }.',
  ),
  refused(
    'type SiteSiteMetadata',
    'type SiteSiteMetadata { siteUrl: String }',
    '1:6 SiteSiteMetadata is a built-in type, which schema/site.graphql:18 defines. Choose another name, or add fields to it: extend type SiteSiteMetadata.',
  ),
  refused(
    'the types ImageSharp, MarkdownRemark and JSON',
    'type Post implements Node @record {\n  cover: ImageSharp\n  other: MarkdownRemark @link\n  data: JSON\n}',
    '2:10 Unknown type "ImageSharp". Did you mean "ImageFit" or "ImageProc"? The type of images is ImageProc.',
    '3:10 Unknown type "MarkdownRemark". Link to the record type of these files.',
    '4:9 Unknown type "JSON". Declare the fields as a type, or a scalar: scalar JSON @stored(as: "String").',
  ),
];
