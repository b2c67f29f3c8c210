/** The types of fields with `@markdown`, which are part of a contract that has such a field. */
import type { RecordField } from '@trellis/core/record-types';
import { type DefinitionNode, Kind, parse, Source } from 'graphql';
import {
  type DiagnosticList,
  findDirective,
  findStored,
  getFieldShape,
  getTypeNode,
  type SdlField,
  type SdlFields,
} from './sdl.js';

export const MARKDOWN_TYPE = 'Markdown';

const MARKDOWN_SDL = `
"Rendered Markdown."
type ${MARKDOWN_TYPE} {
  """
  The text as HTML: GitHub-flavoured, sanitised unless the configuration of the site disables it, with highlighted code.
  Relative links lead to public copies of files, and relative images are shown in several sizes.
  """
  html: String!
  "The beginning of the text, cut after a whole word and ended by an ellipsis if text follows."
  excerpt(
    "The maximum number of characters of text, from 1 to 10000."
    length: Int! = 140
    "The format of the result."
    format: MarkdownExcerptFormat! = PLAIN
  ): String!
  "The headings in the order of the text."
  headings(
    "Only headings of this depth, from 1 to 6."
    depth: Int
  ): [MarkdownHeading!]!
  "Links to the headings as nested HTML lists; empty without headings."
  tableOfContents(
    "The depth of the deepest headings, from 1 to 6."
    maxDepth: Int! = 6
  ): String!
  "The text without any markup, with an empty line between paragraphs."
  plainText: String!
  "The reading time in minutes, at least 1, at 265 words a minute."
  timeToRead: Int!
  "The numbers of words, sentences and paragraphs."
  wordCount: MarkdownWordCount!
}

"A heading in a Markdown text."
type MarkdownHeading {
  "The depth: 1 for \`# Title\`."
  depth: Int!
  "The text without markup."
  value: String!
  "The \`id\` of the element in the HTML."
  id: String!
}

"The size of a Markdown text."
type MarkdownWordCount {
  "The number of paragraphs, headings, list items and table cells."
  paragraphs: Int!
  "The number of sentences."
  sentences: Int!
  "The number of words."
  words: Int!
}

"The formats of an excerpt."
enum MarkdownExcerptFormat {
  "HTML with the same rules as the whole text."
  HTML
  "Markdown."
  MARKDOWN
  "Text without markup."
  PLAIN
}
`;

/** The name in diagnostics, for example when a document defines a type with the same name. */
const DOCUMENT = 'built-in/markdown.graphql';

/** Adds the types of Markdown to definitions with a field that is marked `@markdown`. */
export function addMarkdownTypes(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const isUsed = definitions.some(
    (definition) =>
      'fields' in definition &&
      definition.fields?.some(({ directives }) => directives?.some(({ name }) => name.value === 'markdown')),
  );
  return isUsed ? [...definitions, ...parse(new Source(MARKDOWN_SDL, DOCUMENT)).definitions] : definitions;
}

/** The fields that filters, sorts and groups use. The others depend on arguments, or on other files of the site. */
const QUERYABLE = ['plainText', 'timeToRead', 'wordCount'];

export const readMarkdownFields = (fields: readonly RecordField[]): readonly RecordField[] =>
  fields.filter(({ name }) => QUERYABLE.includes(name));

/** Checks a field with `@markdown`, and that no other field has its type. */
export function checkMarkdown(
  kind: SdlFields,
  { field, of }: { readonly field: SdlField; readonly of: string | undefined },
  diagnostics: DiagnosticList,
): void {
  const { type, list, nullable } = getFieldShape(field);
  if (of === undefined) {
    if (type.name === MARKDOWN_TYPE && isBuiltIn(type))
      diagnostics.add(getTypeNode(field), `Expected @markdown on a field of the type ${MARKDOWN_TYPE}.`);
    return;
  }
  const directive = findDirective(field, 'markdown');
  if (directive === undefined) return;
  if (type.name !== MARKDOWN_TYPE || list)
    diagnostics.add(getTypeNode(field), `Expected the type ${MARKDOWN_TYPE}; received ${String(field.type)}.`);
  const stored = findStored(kind, of);
  const shape = stored && getFieldShape(stored);
  if (shape?.type.name !== 'String' || shape.list) {
    diagnostics.add(directive, `Expected @markdown of a stored text field of ${kind.name}; received "${of}".`);
  } else if (shape.nullable && !nullable) {
    diagnostics.add(
      getTypeNode(field),
      `Expected a type that can be null, as ${kind.name}.${of} can; received ${String(field.type)}.`,
    );
  }
}

const isBuiltIn = ({ astNode }: ReturnType<typeof getFieldShape>['type']): boolean =>
  astNode?.kind === Kind.OBJECT_TYPE_DEFINITION && astNode.loc?.source.name === DOCUMENT;
