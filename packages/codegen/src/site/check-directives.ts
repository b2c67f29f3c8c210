import { CONTENT_EXTENSIONS, type RecordField } from '@trellis/core/record-types';
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  isLeafType,
  isObjectType,
  isScalarType,
  Kind,
  type ObjectTypeExtensionNode,
  parse,
  Source,
} from 'graphql';
import {
  type BackReference,
  type DiagnosticList,
  findDirective,
  findStored,
  findStoredScalar,
  findTexts,
  getFieldShape,
  getTypeNode,
  isRecordDefinition,
  isRecordType,
  linkColumn,
  type LinkEnds,
  readDirectives,
  type SdlField,
  type SdlFields,
  SOURCES,
} from './sdl.js';

/** Checks that both ends of a link exist and have values of the same type. */
export function checkLink(kind: GraphQLObjectType, field: SdlField, link: LinkEnds, diagnostics: DiagnosticList): void {
  const { type, list, nullable } = getFieldShape(field);
  const directive = findDirective(field, 'link');
  if (directive === undefined) return;
  if (!isObjectType(type) || !isRecordType(type)) {
    diagnostics.add(getTypeNode(field), `Expected a @record type; received ${String(field.type)}.`);
    return;
  }
  if (!list && !nullable) {
    const expected = `Expected ${type.name}, as the linked record may be missing`;
    diagnostics.add(getTypeNode(field), `${expected}; received ${String(field.type)}.`);
  }
  const to = findEnd({ end: 'to', path: link.to, of: type, list: false });
  const from = link.from === undefined ? 'text' : findEnd({ end: 'from', path: link.from, of: kind, list });
  for (const found of [from, to]) if (typeof found === 'object') diagnostics.add(directive, found.message);
  if (typeof from === 'string' && typeof to === 'string' && from !== to)
    diagnostics.add(
      directive,
      `Expected "to" to name a field of the same type as the keys (${from}); received "${link.to}" (${to}).`,
    );
}

interface End {
  readonly end: 'from' | 'to';
  readonly path: string;
  readonly of: GraphQLObjectType;
  readonly list: boolean;
}

/** Returns the type of the values at an end of a link, or an error message. */
function findEnd({ end, path, of, list }: End): string | { readonly message: string } {
  const stored = findStored(of, path);
  const shape = stored && getFieldShape(stored);
  if (shape?.list === list && isLeafType(shape.type)) return valueOf(shape.type);
  const values = list ? 'a list of values' : 'one value';
  return { message: `Expected "${end}" to name a stored field of ${of.name} with ${values}; received "${path}".` };
}

/** Returns the type of values in storage, where dates, ids and enums are text. */
function valueOf(type: GraphQLNamedOutputType): string {
  const name = (isScalarType(type) ? findStoredScalar(type) : undefined) ?? type.name;
  if (name === 'Int' || name === 'Float') return 'numbers';
  return name === 'Boolean' ? 'booleans' : 'text';
}

/** Checks that a back reference names a field of the linked type that refers to this type. */
export function checkBackReference(
  kind: GraphQLObjectType,
  field: SdlField,
  back: BackReference,
  diagnostics: DiagnosticList,
): void {
  const { type, list, nullable } = getFieldShape(field);
  const directive = findDirective(field, 'link');
  if (directive === undefined) return;
  if (!isObjectType(type) || !isRecordType(type)) {
    diagnostics.add(getTypeNode(field), `Expected a @record type; received ${String(field.type)}.`);
    return;
  }
  if (!list && !nullable) {
    const expected = `Expected ${type.name}, as no record may refer to this one`;
    diagnostics.add(getTypeNode(field), `${expected}; received ${String(field.type)}.`);
  }
  const to = directive.arguments?.find(({ name }) => name.value === 'to');
  if (to !== undefined) diagnostics.add(to, 'Expected "by" or "to"; received both.');
  const ends = findBackEnds(kind, field, back);
  if (typeof ends === 'string') diagnostics.add(directive, ends);
}

/** The columns of a back reference: `from` of this type, and `to` of the linked one, which may have a list of values. */
interface BackEnds {
  readonly from: string;
  readonly to: string;
  readonly inList: boolean;
}

/**
 * Finds the columns of a back reference, or returns an error message. `by` names a link to this type, such as `author`;
 * the field that such a link refers to, such as `author.email`; or a stored field whose values are those of `from`.
 */
export function findBackEnds(kind: SdlFields, field: SdlField, { by, from }: BackReference): BackEnds | string {
  const { type } = getFieldShape(field);
  if (!isObjectType(type)) return `Expected a @record type; received ${String(field.type)}.`;
  const [name = '', ...rest] = by.split('.');
  const other = type.getFields()[name];
  const link = other && readDirectives(other).link;
  if (other === undefined || link === undefined || getFieldShape(other).type !== kind) {
    return findValueEnds(kind, type, { by, from });
  }
  const target = from ?? (rest.length > 0 ? rest.join('.') : link.to);
  if (target !== link.to || (rest.length > 0 && rest.join('.') !== link.to)) {
    return `Expected "${link.to}", the field of ${kind.name} to which ${type.name}.${name} refers; received "${target === link.to ? rest.join('.') : target}".`;
  }
  return { from: link.to, to: linkColumn(type, other, link), inList: getFieldShape(other).list };
}

function findValueEnds(kind: SdlFields, type: GraphQLObjectType, { by, from }: BackReference): BackEnds | string {
  const stored = findStored(type, by);
  const shape = stored && getFieldShape(stored);
  if (shape === undefined || !isLeafType(shape.type)) {
    return `Expected "by" to name a link of ${type.name} to ${kind.name}, or a stored field; received "${by}".`;
  }
  if (from === undefined) {
    return `Expected "from" too, because ${type.name}.${by} is not a link to ${kind.name}. A link to the record whose ${by} is the value of this field is @link(to: "${by}").`;
  }
  const own = findStored(kind, from);
  const ownShape = own && getFieldShape(own);
  if (ownShape === undefined || ownShape.list || !isLeafType(ownShape.type)) {
    return `Expected "from" to name a stored field of ${kind.name} with one value; received "${from}".`;
  }
  const [theirs, mine] = [valueOf(shape.type), valueOf(ownShape.type)];
  if (theirs !== mine) {
    return `Expected "by" to name a field of the same type as "from" (${mine}); received "${by}" (${theirs}).`;
  }
  return { from, to: by, inList: shape.list };
}

/** Checks that each `@source` is on a record type and that its patterns match files of the site only. */
export function checkSources(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) {
      checkExtension(definition.directives, diagnostics);
      if (WRITTEN_BY_SERVER.includes(definition.name.value)) checkUnwritten(definition, diagnostics);
    }
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const { name: type, directives } = definition;
    const source = directives?.find(({ name }) => name.value === 'source');
    if (source === undefined) continue;
    if (!isRecordDefinition(definition))
      diagnostics.add(source, `@source is only allowed on @record types; ${type.value} is not one.`);
    checkGlobs(source, diagnostics);
    for (const text of findTexts(source, 'at').filter(({ value }) => value.split('.').includes(''))) {
      const expected = 'Expected keys separated by dots, such as `authors`, or `*` for each key of an object';
      diagnostics.add(text, `${expected}; received "${text.value}".`);
    }
  }
}

/** Record directives are allowed on the definition of a type only, so that readers find them in one place. */
function checkExtension(directives: readonly ConstDirectiveNode[] = [], diagnostics: DiagnosticList): void {
  for (const directive of directives.filter(({ name }) => ['record', 'source'].includes(name.value))) {
    const name = `@${directive.name.value}`;
    diagnostics.add(directive, `${name} is not allowed on an extension. Move it to the definition of the type.`);
  }
}

/** The types whose values come from the server, which would never write a field that a project adds. */
export const WRITTEN_BY_SERVER: readonly string[] = [
  ...['Directory', 'File', 'ImageProc', 'Internal', 'PageInfo'],
  ...['Site', 'SiteBuildMetadata', 'SitePage'],
];

/** Reports the stored fields that a document adds to a type whose values come from the server. */
function checkUnwritten({ name: type, fields = [] }: ObjectTypeExtensionNode, diagnostics: DiagnosticList): void {
  for (const field of fields) {
    const directive = field.directives?.find(({ name }) => SOURCES.some((source) => source === name.value));
    const given = directive?.arguments?.map(({ name }) => name.value) ?? [];
    const isStored =
      directive === undefined || (directive.name.value === 'link' && !given.includes('from') && !given.includes('by'));
    if (!isStored) continue;
    const message = `Nothing writes ${type.value}.${field.name.value}: the server writes the records of this type.`;
    diagnostics.add(field, `${message} Use @computed, @alias, @child or @link(by:).`);
  }
}

function checkGlobs(source: ConstDirectiveNode, diagnostics: DiagnosticList): void {
  const glob = source.arguments?.find(({ name }) => name.value === 'glob')?.value;
  if (glob?.kind === Kind.LIST && glob.values.length === 0)
    diagnostics.add(glob, 'Expected at least one pattern; received an empty list.');
  for (const text of findTexts(source, 'glob')) {
    if (!isBelowSite(text.value)) {
      const expected = "Expected a pattern of files below the site's folder, such as `content/*.md`";
      diagnostics.add(text, `${expected}; received "${text.value}".`);
    }
    for (const extension of listExtensions(text.value).filter((one) => !isReadable(one))) {
      const expected = `Expected a pattern of files with records (${CONTENT_EXTENSIONS.join(', ')})`;
      diagnostics.add(text, `${expected}; received files with the extension "${extension}".`);
    }
  }
}

/** Lists the extensions that a pattern names: one for `*.md`, two for `*.{md,json}`, and none for `*`. */
function listExtensions(glob: string): readonly string[] {
  const [, one, several] = /\.(?:([\w-]+)|\{([\w,-]+)\})$/.exec(glob) ?? [];
  return one === undefined ? (several?.split(',') ?? []) : [one];
}

const isReadable = (extension: string): boolean =>
  CONTENT_EXTENSIONS.some((known) => known === extension.toLowerCase());

/** Rejects patterns that are empty, absolute or negated, or have a segment `.` or `..`. */
const isBelowSite = (glob: string): boolean =>
  glob.trim() !== '' && !/^(?:[/\\]|[A-Za-z]:|!(?!\())/.test(glob) && !DOTS.test(glob);

/** Such a segment may also be an alternative in a pattern: `{..,a}/*.md`. */
const DOTS = /(?:^|[/{,(|])\.{1,2}(?=$|[/},)|])/;

/** The type of fields with `@markdown`. It is part of a contract that has such a field. */
export const MARKDOWN_TYPE = 'Markdown';

const MARKDOWN_SDL = `
"Rendered Markdown."
type ${MARKDOWN_TYPE} {
  """
  The text as HTML: GitHub-flavoured, sanitised unless the configuration of the site disables it, with highlighted code.
  Relative links lead to public copies of files, and relative images are shown in several sizes.
  """
  html: String!
  """
  The beginning of the text, up to a comment \`<!-- more -->\`, or cut after a whole word and ended by an ellipsis. Footnotes are
  left out of HTML and Markdown.
  """
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
  "Text without markup and code blocks."
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
