/** Renders Markdown. Only the thread for Markdown loads this module. */
import { randomBytes } from 'node:crypto';
import type { Element, ElementContent, Nodes as HtmlNode, Root as HtmlRoot } from 'hast';
import type { Blockquote, Definition, Nodes as MarkdownNode, Root as MarkdownRoot, Text } from 'mdast';
import {
  defaultSchema,
  rehypeRaw,
  rehypeSanitize,
  rehypeStringify,
  remarkGfm,
  remarkParse,
  remarkRehype,
  remarkStringify,
  Slugger,
  unified,
  docker,
  elixir,
  graphql,
  haskell,
  jsx,
  nginx,
  powershell,
  refractor,
  shellSession,
  toml,
  tsx,
  zig,
} from './libraries.js';
import { BLOCK_END } from './mdx.js';
import {
  cutText,
  cutWords,
  EXCERPT_END,
  type ExcerptRequest,
  type HtmlPieces,
  type LinkSlot,
  type MarkdownHeading,
  type MarkdownSettings,
  type Rendering,
  type RenderingRequest,
} from './rendering.js';

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkStringify, { bullet: '-' }).freeze();
const toHtmlTree = unified().use(remarkRehype, { allowDangerousHtml: true }).freeze();
const parseRaw = unified().use(rehypeRaw).freeze();

/** Footnotes have the prefix already, and their links would not lead to ids that have it twice. */
const PREFIX = 'user-content-';

/**
 * Elements that GitHub allows and `rehype-sanitize` does not.
 *
 * @see https://github.com/gjtorikian/html-pipeline/blob/main/lib/html_pipeline/sanitization_filter.rb
 */
const MORE_ELEMENTS = ['abbr', 'bdo', 'caption', 'cite', 'dfn', 'figcaption', 'figure', 'mark', 'small', 'time', 'wbr'];

const ALERT_CLASSES: [string, RegExp] = ['className', /^markdown-alert(?:-[a-z]+)?$/u];

const sanitizer = unified()
  .use(rehypeSanitize, {
    ...defaultSchema,
    clobberPrefix: PREFIX,
    tagNames: [...(defaultSchema.tagNames ?? []), ...MORE_ELEMENTS],
    attributes: {
      ...defaultSchema.attributes,
      div: [...(defaultSchema.attributes?.div ?? []), ALERT_CLASSES],
      p: [ALERT_CLASSES],
    },
  })
  .freeze();
const printer = unified().use(rehypeStringify).freeze();

/** Deeper texts are not written by people, and would exceed the stack. */
const MAX_DEPTH = 100;

export function render(request: RenderingRequest): Rendering {
  const tree = toTree(parseWithAlerts(request.text), request);
  const headings = nameHeadings(tree, request);
  const text = measureText(tree);
  if (request.highlight) highlightCode(tree);
  return { html: toPieces(tree), headings, ...text };
}

/** Renders the beginning of a text as HTML. */
export function renderExcerpt(request: ExcerptRequest): HtmlPieces {
  const beginning = cutTree(inlineReferences(parseWithAlerts(request.text)), request.length);
  const tree = toTree(beginning, request);
  nameHeadings(tree, request);
  if (request.highlight) highlightCode(tree);
  return toPieces(tree);
}

/** Returns the beginning of a text as Markdown. */
export function excerptMarkdown({ text, length }: ExcerptRequest): string {
  const tree = cutTree(inlineReferences(parse(text)), length);
  visitAlerts(tree, text, keepMark);
  return markdown.stringify(tree);
}

function parseWithAlerts(text: string): MarkdownRoot {
  const tree = parse(text);
  visitAlerts(tree, text, nameAlert);
  return tree;
}

function parse(text: string): MarkdownRoot {
  const tree = markdown.parse(text);
  assertDepth(tree);
  if (text.includes(BLOCK_END)) removeBlockEnds(tree);
  return tree;
}

function removeBlockEnds(node: MarkdownNode): void {
  if (node.type === 'html') node.value = node.value.replaceAll(BLOCK_END, '');
  if ('children' in node) for (const child of node.children) removeBlockEnds(child);
}

/** @throws RangeError for a tree whose nodes are nested too deeply. */
function assertDepth(tree: HtmlRoot | MarkdownRoot): void {
  let level: readonly TreeNode[] = tree.children;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new RangeError(`Expected elements nested at most ${MAX_DEPTH} levels deep.`);
    level = level.flatMap(({ children = [] }) => children);
  }
}

interface TreeNode {
  readonly type: string;
  readonly children?: readonly TreeNode[];
}

function toTree(tree: MarkdownRoot, { sanitize }: MarkdownSettings): HtmlRoot {
  const mixed = toHtmlTree.runSync(tree);
  const html = hasRaw(mixed) ? parseRaw.runSync(mixed) : mixed;
  assertDepth(html);
  if (!sanitize) return html;
  const clean = sanitizer.runSync(html);
  visitElements(clean, removeSecondPrefix);
  return clean;
}

const ALERT = /^\[!(note|tip|important|warning|caution)\][^\S\n]*(?:\n|$)/iu;

/** A quotation that begins with a line such as `[!NOTE]`. */
interface Alert {
  readonly quotation: Blockquote;
  readonly kind: string;
  readonly mark: Text;
  /** The content after the line with the mark. */
  readonly content: Blockquote['children'];
}

/**
 * Visits the alerts of a tree that was parsed from a text.
 *
 * @see https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#alerts
 */
function visitAlerts(node: MarkdownNode, source: string, visit: (alert: Alert) => void): void {
  if (!('children' in node)) return;
  for (const child of node.children) visitAlerts(child, source, visit);
  const alert = node.type === 'blockquote' ? readAlert(node, source) : undefined;
  if (alert !== undefined) visit(alert);
}

function readAlert(quotation: Blockquote, source: string): Alert | undefined {
  const [first, ...others] = quotation.children;
  if (first?.type !== 'paragraph') return undefined;
  const [mark, end, ...after] = first.children;
  // A mark with a backslash is text.
  if (mark?.type !== 'text' || !source.startsWith('[!', mark.position?.start.offset)) return undefined;
  const [line = '', kind = ''] = ALERT.exec(mark.value) ?? [];
  const value = mark.value.slice(line.length);
  const isLine = line.endsWith('\n') || end === undefined || end.type === 'break';
  if (line === '' || !isLine || (value === '' && end === undefined && others.length === 0)) return undefined;
  const rest = line.endsWith('\n') ? first.children.with(0, { ...mark, value }) : after;
  const content = rest.length === 0 ? others : [{ ...first, children: rest }, ...others];
  return { quotation, kind: kind.toLowerCase(), mark, content };
}

/** Gives an alert the elements and class names of GitHub. */
function nameAlert({ quotation, kind, content }: Alert): void {
  quotation.data = { hName: 'div', hProperties: { className: ['markdown-alert', `markdown-alert-${kind}`] } };
  const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  const data = { hProperties: { className: ['markdown-alert-title'] } };
  quotation.children = [{ type: 'paragraph', data, children: [{ type: 'text', value: title }] }, ...content];
}

/** Keeps the mark of an alert in Markdown, in which it would be text with a backslash. */
function keepMark({ quotation, mark }: Alert): void {
  const length = mark.value.indexOf(']') + 1;
  const [first] = quotation.children;
  if (first?.type !== 'paragraph') return;
  const rest = { ...mark, value: mark.value.slice(length) };
  first.children.splice(0, 1, { type: 'html', value: mark.value.slice(0, length) }, rest);
}

/** Whether a tree contains HTML as text, which most texts do not. */
const hasRaw = (node: HtmlNode): boolean =>
  node.type === 'raw' || ('children' in node && node.children.some((child) => hasRaw(child)));

function removeSecondPrefix({ properties }: Element): void {
  for (const name of ['id', 'ariaDescribedBy', 'ariaLabelledBy']) {
    const value = properties[name];
    const shorten = (text: unknown): string => String(text).replace(PREFIX + PREFIX, PREFIX);
    if (Array.isArray(value)) properties[name] = value.map(shorten);
    else if (typeof value === 'string') properties[name] = shorten(value);
  }
}

/**
 * Gives headings an id, so that links can lead to them, and lists them. The heading of the footnotes is not part of the text.
 * In sanitised HTML, an id that the text sets has the form of the others, so that it can't be any name that scripts use.
 */
function nameHeadings(tree: HtmlRoot, { sanitize }: MarkdownSettings): MarkdownHeading[] {
  const slugger = new Slugger();
  const headings: MarkdownHeading[] = [];
  visitElements(tree, (element) => {
    const depth = /^h([1-6])$/u.exec(element.tagName)?.[1];
    if (depth === undefined || isFootnoteLabel(element)) return;
    const own = takeOwnId(element);
    const value = textOf(element).trim();
    const { id } = element.properties;
    const given = own ?? (typeof id === 'string' ? id : value);
    const isKept = own === undefined ? typeof id === 'string' : !sanitize;
    // The slugger returns no text twice, so that no other heading has the same id.
    const slug = slugger.slug(given, isKept);
    const name = isKept ? given : slug;
    element.properties.id = name;
    headings.push({ depth: Number(depth), value, id: name });
  });
  return headings;
}

/**
 * Removes the id that a heading ends with, and returns it. GitHub does not have this form, but generators of sites do.
 *
 * @see https://docusaurus.io/docs/markdown-features/toc#heading-ids
 */
function takeOwnId({ children }: Element): string | undefined {
  const last = children.at(-1);
  if (last?.type !== 'text') return undefined;
  const found = /\{#([^\s{}]+)\}\s*$/u.exec(last.value);
  if (found) last.value = last.value.slice(0, found.index).trimEnd();
  return found?.[1];
}

/** Prints a tree, with slots for relative URLs. */
function toPieces(tree: HtmlRoot): HtmlPieces {
  const slots: LinkSlot[] = [];
  // Unpredictable, so that no text can contain it.
  const mark = `slot-${randomBytes(12).toString('hex')}-`;
  const add = (slot: LinkSlot): string => `${mark}${slots.push(slot) - 1};`;
  replaceLinks(tree, add);
  const html = printer.stringify(tree);
  const parts = html.split(new RegExp(`${mark}(\\d+);`, 'u'));
  return parts
    .map((part, index) => (index % 2 === 0 ? part : (slots[Number(part)] ?? '')))
    .filter((part) => part !== '');
}

/** The attributes with the URL of a file, by element. Sanitised HTML has links alone. */
const LINKS: Readonly<Partial<Record<string, readonly string[]>>> = {
  a: ['href'],
  audio: ['src'],
  source: ['src'],
  track: ['src'],
  video: ['src', 'poster'],
};

function replaceLinks(parent: HtmlRoot | Element, add: (slot: LinkSlot) => string): void {
  for (const [index, child] of parent.children.entries()) {
    if (child.type !== 'element') continue;
    const { src } = child.properties;
    const line = child.position?.start.line;
    const at = line === undefined ? {} : { line };
    if (child.tagName === 'img' && isRelative(src)) {
      const slot = add({ is: 'image', url: src, attributes: printAttributes(child), ...at });
      parent.children[index] = { type: 'text', value: slot };
    }
    for (const name of LINKS[child.tagName] ?? []) {
      const url = child.properties[name];
      if (isRelative(url)) child.properties[name] = add({ is: 'href', url, attributes: '', ...at });
    }
    replaceLinks(child, add);
  }
}

/** Whether a URL is a path relative to the file. URLs that begin with a slash belong to the pages of the site. */
const isRelative = (url: unknown): url is string =>
  typeof url === 'string' && url !== '' && !/^(?:[a-z][a-z\d+.-]*:|[/\\#?])/iu.test(url.trimStart());

/** Returns the attributes of an image except those that its file determines. */
function printAttributes(image: Element): string {
  const { src: _src, srcSet: _srcSet, ...properties } = image.properties;
  const html = printer.stringify({ type: 'root', children: [{ ...image, properties }] });
  return html.replace(/^<img/u, '').replace(/>$/u, '');
}

/** Replaces references to definitions, which may be below a cut, by their links and images, and removes footnotes. */
function inlineReferences(tree: MarkdownRoot): MarkdownRoot {
  const definitions = new Map<string, Definition>();
  const collect = (node: MarkdownNode): void => {
    if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node);
    if ('children' in node) for (const child of node.children) collect(child);
  };
  const inline = (node: MarkdownNode): MarkdownNode | undefined => {
    if (node.type === 'definition' || node.type === 'footnoteDefinition' || node.type === 'footnoteReference')
      return undefined;
    if ('children' in node) node.children = node.children.flatMap((child) => inline(child) ?? []) as never;
    if (node.type !== 'linkReference' && node.type !== 'imageReference') return node;
    const { url = '', title } = definitions.get(node.identifier) ?? {};
    const { type: _type, ...rest } = node;
    return { ...rest, type: node.type === 'linkReference' ? 'link' : 'image', url, title } as MarkdownNode;
  };
  collect(tree);
  inline(tree);
  return tree;
}

/** Cuts a tree after this number of characters of text, and ends it by an ellipsis, or at the mark for the end of an excerpt. */
function cutTree(tree: MarkdownRoot, length: number): MarkdownRoot {
  let rest = length;
  let end: 'length' | 'listing' | 'mark' | undefined;
  const cut = <T extends MarkdownNode>(node: T): T | undefined => {
    if (end !== undefined) return undefined;
    if (node.type === 'html' && EXCERPT_END.test(node.value)) {
      end = 'mark';
      return undefined;
    }
    if (node.type === 'text' || node.type === 'inlineCode' || node.type === 'code') {
      const value = rest === length ? cutText(node.value, rest) : cutWords(node.value, rest);
      rest -= value.length;
      if (value.length === node.value.length) return node;
      const isListing = node.type === 'code' && value !== '';
      end = isListing ? 'listing' : 'length';
      return value === '' ? undefined : { ...node, value: isListing ? `${value}…` : value };
    }
    if (!('children' in node)) return node;
    if (rest <= 0 && node.type !== 'root') {
      end = 'length';
      return undefined;
    }
    const children = node.children.flatMap((child) => cut(child) ?? []);
    return children.length === 0 && node.children.length > 0 && node.type !== 'root'
      ? undefined
      : { ...node, children };
  };
  const beginning: MarkdownRoot = cut(tree) ?? { type: 'root', children: [] };
  if (end === 'length' && !addEllipsis(beginning)) {
    beginning.children.push({ type: 'paragraph', children: [{ type: 'text', value: '…' }] });
  }
  return beginning;
}

/** Adds an ellipsis to the last paragraph, heading or cell. Returns whether a tree ends with one. */
function addEllipsis(node: MarkdownNode): boolean {
  if (!('children' in node)) return false;
  const child = node.children.at(-1);
  if (child?.type === 'text') child.value = `${child.value.trimEnd()}…`;
  else if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell')
    node.children.push({ type: 'text', value: '…' });
  else return child !== undefined && addEllipsis(child);
  return true;
}

for (const language of [docker, elixir, graphql, haskell, jsx, nginx, powershell, shellSession, toml, tsx, zig]) {
  refractor.register(language);
}

/** Highlighting takes time beyond that, and a longer listing is not read. */
const MAX_CHARACTERS = 100_000;

/** Highlights code blocks in a known language, with `span` elements that have the class names of Prism. */
function highlightCode(tree: HtmlRoot): void {
  visitElements(tree, (element) => {
    const [code] = element.children;
    if (element.tagName !== 'pre' || code?.type !== 'element' || code.tagName !== 'code') return;
    const language = languageOf(code);
    if (language === undefined || !refractor.registered(language)) return;
    code.properties.className = [`language-${language}`];
    const text = textOf(code);
    if (text.length <= MAX_CHARACTERS) code.children = refractor.highlight(text, language).children as ElementContent[];
  });
}

/**
 * Returns the language in the class of a code block, in lower case. Options of Gatsby's plugins may follow it, such as the lines
 * to mark: `js{1,3-4}` or `js:title=a.js`.
 */
function languageOf({ properties: { className } }: Element): string | undefined {
  const names = Array.isArray(className) ? className.map(String) : [];
  return names.flatMap((name) => /^language-([^{:]+)/u.exec(name)?.[1]?.toLowerCase() ?? [])[0];
}

const BLOCKS: ReadonlySet<string> = new Set([
  ...['address', 'article', 'aside', 'blockquote', 'caption', 'dd', 'details', 'div', 'dl', 'dt', 'figcaption'],
  ...['figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'li', 'main', 'nav', 'ol', 'p'],
  ...['pre', 'section', 'summary', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'ul'],
]);

const HIDDEN: ReadonlySet<string> = new Set(['head', 'noscript', 'script', 'style', 'template', 'title']);

/** Returns the text of a tree without markup, and its size. */
function measureText(tree: HtmlRoot): Pick<Rendering, 'codeBlocks' | 'plainText' | 'wordCount'> {
  const paragraphs = listParagraphs(tree);
  const sum = (count: (text: string) => number): number =>
    paragraphs.reduce((total, { text }) => total + count(text), 0);
  let plainText = '';
  const codeBlocks: [number, number][] = [];
  for (const { text, isCode } of paragraphs) {
    if (plainText !== '') plainText += '\n\n';
    if (isCode) codeBlocks.push([plainText.length, plainText.length + text.length]);
    plainText += text;
  }
  return {
    plainText,
    codeBlocks,
    wordCount: {
      paragraphs: paragraphs.length,
      sentences: sum((text) => countSegments(text, SENTENCES, ({ segment }) => /[\p{L}\p{N}]/u.test(segment))),
      words: sum((text) => countSegments(text, WORDS, ({ isWordLike }) => isWordLike === true)),
    },
  };
}

const WORDS = new Intl.Segmenter('en', { granularity: 'word' });
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Most sentences are shorter. */
const PIECE = 1_000;

/**
 * Counts the segments that match. The text is segmented in pieces, which end with a space if they have one, because each
 * segment of V8 11 contains a copy of the whole text, so that those of a long text would need gigabytes. The last segment
 * of a piece may continue in the next one, which therefore begins with it.
 */
function countSegments(
  text: string,
  segmenter: Intl.Segmenter,
  matches: (segment: Intl.SegmentData) => boolean,
): number {
  let count = 0;
  let size = PIECE;
  for (let start = 0; start < text.length;) {
    const end = start + size < text.length ? findSpaceBefore(text, start, start + size) : text.length;
    let next = end;
    for (const segment of segmenter.segment(text.slice(start, end))) {
      if (end < text.length && start + segment.index + segment.segment.length === end) next = start + segment.index;
      else if (matches(segment)) count += 1;
    }
    size = next === start ? size * 2 : PIECE;
    start = next;
  }
  return count;
}

/** Returns the end of the last space before `end`, or `end` if there is none, as in Japanese. */
function findSpaceBefore(text: string, start: number, end: number): number {
  let space = end;
  while (space > start && !/\s/u.test(text.charAt(space - 1))) space -= 1;
  return space > start ? space : end;
}

interface Paragraph {
  readonly text: string;
  readonly isCode: boolean;
}

function listParagraphs(tree: HtmlRoot): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let text = '';
  const end = (isCode: boolean): void => {
    if (text.trim() !== '') paragraphs.push({ text: text.trim(), isCode });
    text = '';
  };
  const add = (node: HtmlNode, isCode: boolean): void => {
    if (node.type === 'text') text += isCode ? node.value : withSpace(text, node.value);
    if (node.type === 'root') node.children.forEach((child) => add(child, false));
    if (node.type !== 'element' || isLeftOut(node)) return;
    if (node.tagName === 'br') text += '\n';
    const isBlock = BLOCKS.has(node.tagName);
    const containsCode = isCode || node.tagName === 'pre';
    if (isBlock) end(isCode);
    for (const child of node.children) add(child, containsCode);
    if (isBlock) end(containsCode);
  };
  add(tree, false);
  end(false);
  return paragraphs;
}

/** Collapses white space as a browser does, also with the text before. */
function withSpace(before: string, text: string): string {
  const collapsed = text.replaceAll(/[\t\n\f\r ]+/gu, ' ');
  return /(?:^|\s)$/u.test(before) ? collapsed.trimStart() : collapsed;
}

const isLeftOut = (element: Element): boolean =>
  HIDDEN.has(element.tagName) ||
  isFootnoteLabel(element) ||
  'dataFootnoteBackref' in element.properties ||
  'dataFootnoteRef' in element.properties;

/** Calls `visit` for each element in the order of the document. */
function visitElements(tree: HtmlNode, visit: (element: Element) => void): void {
  if (tree.type === 'element') visit(tree);
  if ('children' in tree) for (const child of tree.children) visitElements(child, visit);
}

const textOf = (node: HtmlNode): string =>
  'children' in node ? node.children.map(textOf).join('') : node.type === 'text' ? node.value : '';

const isFootnoteLabel = ({ properties }: Element): boolean =>
  String(properties.id).endsWith('footnote-label') && String(properties.className) === 'sr-only';
