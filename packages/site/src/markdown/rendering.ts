/** The data that the thread for Markdown receives and returns. */

export interface MarkdownSettings {
  /** Whether elements and attributes that could run scripts or change the page are removed. */
  readonly sanitize: boolean;
  /** Whether code in a known language is highlighted. */
  readonly highlight: boolean;
}

/** A text to render as a whole. */
export interface RenderingRequest extends MarkdownSettings {
  readonly text: string;
}

export type ExcerptFormat = 'HTML' | 'MARKDOWN';

/** A text whose beginning is rendered. */
export interface ExcerptRequest extends RenderingRequest {
  /** The maximum number of characters of text. */
  readonly length: number;
  readonly format: ExcerptFormat;
}

export type MarkdownRequest = RenderingRequest | ExcerptRequest;

/** A relative URL in the HTML, which refers to a file of the site. */
export interface LinkSlot {
  /** `href`: the value of an attribute. `image`: an `img` element, whose other attributes are `attributes` as HTML. */
  readonly is: 'href' | 'image';
  readonly url: string;
  readonly attributes: string;
  /** The line in the text, counted from 1; absent for a URL in HTML that the text contains. */
  readonly line?: number;
}

/** HTML as text with slots in between. */
export type HtmlPieces = readonly (string | LinkSlot)[];

export interface MarkdownHeading {
  readonly depth: number;
  readonly value: string;
  readonly id: string;
}

export interface Rendering {
  readonly html: HtmlPieces;
  readonly headings: readonly MarkdownHeading[];
  readonly plainText: string;
  /** The places of the code blocks in the plain text. */
  readonly codeBlocks: readonly (readonly [start: number, end: number])[];
  readonly wordCount: { readonly paragraphs: number; readonly sentences: number; readonly words: number };
}

export type MarkdownReply =
  | { readonly ready: true }
  | { readonly rendering: Rendering }
  | { readonly html: HtmlPieces }
  | { readonly markdown: string }
  | { readonly error: string };

/**
 * The comment that ends an excerpt.
 *
 * @see https://gohugo.io/content-management/summaries/
 */
export const EXCERPT_END = /<!--\s*more\s*-->/iu;

/** Cuts a text after a whole word, or after a character if the first word is longer. */
export const cutText = (text: string, length: number): string => cutWords(text, length) || cutFirstWord(text, length);

/** Cuts a text after a whole word. Returns '' if the first word is longer. */
export function cutWords(text: string, length: number): string {
  if (text.length <= length) return text;
  const [spaced] = /^(?:.*\s)?/su.exec(text.slice(0, length + 1)) ?? [''];
  const start = Math.max(spaced.length, length - NEARBY);
  const words = [...WORDS.segment(text.slice(start, length + NEARBY))];
  // Words follow each other directly in languages without spaces, such as Chinese, Japanese and Thai.
  const isUnspaced = words.some(({ isWordLike }, index) => isWordLike && words[index - 1]?.isWordLike);
  const last = words.findLast(({ index, isWordLike }) => isWordLike && index > 0 && start + index <= length);
  return text.slice(0, isUnspaced && last ? start + last.index : spaced.length).trimEnd();
}

function cutFirstWord(text: string, length: number): string {
  const character = CHARACTERS.segment(text.slice(0, length + NEARBY)).containing(length);
  return text.slice(0, character?.index).trimEnd();
}

const WORDS = new Intl.Segmenter('en', { granularity: 'word' });
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The characters around the end of which the words are found. Each segment has a copy of the text, so a long one is not segmented. */
const NEARBY = 64;
