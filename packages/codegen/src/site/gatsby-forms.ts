/** The directives of Gatsby that Trellis does not have, each with its replacement. */
const DIRECTIVES: Readonly<Record<string, string>> = {
  childOf: 'Delete it: the parent of a record is its file. extend type File { post: Post @child } leads to the record.',
  dontInfer: 'Delete it: a type has only the fields that it declares.',
  fileByRelativePath: 'Write @link: on a field of the type File, the value is a path.',
  infer: 'Delete it, and declare all fields: a type has only these.',
  mimeTypes: 'Write @source(glob:), which names the files.',
  nodeInterface: 'Delete it: an interface has no queries. Add one with "extend type Query".',
  proxy: 'Write @alias(of:) with a stored field of the same type.',
};

/** The types of Gatsby that Trellis does not have, each with its replacement. */
const TYPES: Readonly<Record<string, string>> = {
  ImageSharp: 'The type of images is ImageProc.',
  JSON: 'Declare the fields as a type, or a scalar: scalar JSON @stored(as: "String").',
  MarkdownRemark: 'Link to the record type of these files.',
  Mdx: 'Link to the record type of these files.',
};

/** The types of Markdown files, to which a project of Gatsby adds front matter. */
export const isMarkdownOfGatsby = (type: string): boolean => ['MarkdownRemark', 'Mdx'].includes(type);

/**
 * Returns a sentence with the form of Trellis for an error of graphql-js about a form of Gatsby; `undefined` for all other
 * errors.
 */
export function findGatsbyForm(message: string): string | undefined {
  const [, type = ''] = /^Unknown type "(\w+)"\./.exec(message) ?? [];
  const [, directive = ''] = /^Unknown directive "@(\w+)"\./.exec(message) ?? [];
  if (FORMAT.test(message)) return FORMAT_FORM;
  return findOwn(TYPES, type) ?? findOwn(DIRECTIVES, directive);
}

/** Gatsby's directive for dates has defaults for the arguments of queries. */
const FORMAT = /^Unknown argument "\w+" on directive "@dateformat"/;
const FORMAT_FORM = 'Queries have these arguments, such as date(formatString: "d MMMM yyyy").';

const findOwn = (forms: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(forms, name) ? forms[name] : undefined;
