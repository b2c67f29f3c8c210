import type { Element, Nodes, Root } from 'hast';
import type { Rendering } from './rendering.js';

const BLOCKS: ReadonlySet<string> = new Set([
  ...['address', 'article', 'aside', 'blockquote', 'caption', 'dd', 'details', 'div', 'dl', 'dt', 'figcaption'],
  ...['figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'li', 'main', 'nav', 'ol', 'p'],
  ...['pre', 'section', 'summary', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'ul'],
]);

const HIDDEN: ReadonlySet<string> = new Set(['head', 'noscript', 'script', 'style', 'template', 'title']);

/** Returns the text of a tree without markup, and its size. */
export function measureText(tree: Root): Pick<Rendering, 'plainText' | 'wordCount'> {
  const paragraphs = listParagraphs(tree);
  const plainText = paragraphs.join('\n\n');
  const words = [...new Intl.Segmenter('en', { granularity: 'word' }).segment(plainText)];
  const sentences = paragraphs.flatMap((text) => [
    ...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text),
  ]);
  return {
    plainText,
    wordCount: {
      paragraphs: paragraphs.length,
      sentences: sentences.filter(({ segment }) => /[\p{L}\p{N}]/u.test(segment)).length,
      words: words.filter(({ isWordLike }) => isWordLike).length,
    },
  };
}

function listParagraphs(tree: Root): string[] {
  const paragraphs: string[] = [];
  let text = '';
  const end = (): void => {
    if (text.trim() !== '') paragraphs.push(text.trim());
    text = '';
  };
  const add = (node: Nodes, isCode: boolean): void => {
    if (node.type === 'text') text += isCode ? node.value : withSpace(text, node.value);
    if (node.type === 'root') node.children.forEach((child) => add(child, false));
    if (node.type !== 'element' || isLeftOut(node)) return;
    if (node.tagName === 'br') text += '\n';
    const isBlock = BLOCKS.has(node.tagName);
    if (isBlock) end();
    for (const child of node.children) add(child, isCode || node.tagName === 'pre');
    if (isBlock) end();
  };
  add(tree, false);
  end();
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
export function visitElements(tree: Nodes, visit: (element: Element) => void): void {
  if (tree.type === 'element') visit(tree);
  if ('children' in tree) for (const child of tree.children) visitElements(child, visit);
}

export const textOf = (node: Nodes): string =>
  'children' in node ? node.children.map(textOf).join('') : node.type === 'text' ? node.value : '';

export const isFootnoteLabel = ({ properties }: Element): boolean =>
  String(properties.id).endsWith('footnote-label') && String(properties.className) === 'sr-only';
