import { AppError } from '@trellis/core/errors';
import type { ComputedField } from '@trellis/core/record-types';
import type { GraphQLFieldResolver } from 'graphql';
import type { MarkdownLinks, MarkdownSource } from '../markdown/links.js';
import type { MarkdownRenderer } from '../markdown/markdown-renderer.js';
import { cutText, type MarkdownHeading, type Rendering } from '../markdown/rendering.js';
import type { RecordContext } from './context.js';

/** Renders the texts of fields with `@markdown`. */
export type MarkdownTexts = Pick<MarkdownLinks, 'resolve'> & Pick<MarkdownRenderer, 'excerpt' | 'render'>;

type Resolver = GraphQLFieldResolver<Record<string, unknown>, RecordContext>;

/** Creates the resolver of a field with `@markdown`. */
export const createMarkdownResolver =
  ({ markdown = '' }: Pick<ComputedField, 'markdown'>): Resolver =>
  (record) => {
    const text = record[markdown];
    return typeof text === 'string'
      ? new MarkdownText({ text, fileId: (record.parent ?? null) as string | null })
      : null;
  };

/** Words per minute; the same as in Gatsby. */
const READING_SPEED = 265;

const MAX_EXCERPT = 10_000;

/** A value of the type `Markdown`. graphql-js calls the members that a query selects. */
class MarkdownText {
  readonly #source: MarkdownSource;
  #rendering: Promise<Rendering> | undefined;

  constructor(source: MarkdownSource) {
    this.#source = source;
  }

  async html(_args: unknown, context: RecordContext): Promise<string> {
    const { html } = await this.#render(context);
    return textsOf(context).resolve(html, this.#source, checkOf(context));
  }

  async excerpt({ length, format }: ExcerptArguments, context: RecordContext): Promise<string> {
    assertRange('length', length, MAX_EXCERPT);
    if (format === 'PLAIN') {
      const text = (await this.#render(context)).plainText.replaceAll(/\s+/gu, ' ');
      const cut = cutText(text, length);
      return cut.length < text.length ? `${cut}…` : cut;
    }
    const pieces = await textsOf(context).excerpt(this.#source.text, { length, format }, checkOf(context));
    return textsOf(context).resolve(pieces, this.#source, checkOf(context));
  }

  async headings(
    { depth }: { readonly depth?: number | null },
    context: RecordContext,
  ): Promise<readonly MarkdownHeading[]> {
    if (depth != null) assertRange('depth', depth, 6);
    const { headings } = await this.#render(context);
    return depth == null ? headings : headings.filter((heading) => heading.depth === depth);
  }

  async tableOfContents({ maxDepth }: { readonly maxDepth: number }, context: RecordContext): Promise<string> {
    assertRange('maxDepth', maxDepth, 6);
    const { headings } = await this.#render(context);
    return printContents(headings.filter(({ depth }) => depth <= maxDepth));
  }

  async plainText(_args: unknown, context: RecordContext): Promise<string> {
    return (await this.#render(context)).plainText;
  }

  async timeToRead(_args: unknown, context: RecordContext): Promise<number> {
    const { wordCount } = await this.#render(context);
    return Math.max(1, Math.round(wordCount.words / READING_SPEED));
  }

  async wordCount(_args: unknown, context: RecordContext): Promise<Rendering['wordCount']> {
    return (await this.#render(context)).wordCount;
  }

  #render(context: RecordContext): Promise<Rendering> {
    return (this.#rendering ??= textsOf(context).render(this.#source.text, checkOf(context)));
  }
}

interface ExcerptArguments {
  readonly length: number;
  readonly format: 'HTML' | 'MARKDOWN' | 'PLAIN';
}

function textsOf({ markdown }: RecordContext): MarkdownTexts {
  if (!markdown) throw new Error('Expected the context of a query to have the member "markdown".');
  return markdown;
}

const checkOf =
  ({ budget }: RecordContext): (() => void) =>
  () =>
    budget.check();

function assertRange(name: string, value: number, most: number): void {
  if (value >= 1 && value <= most) return;
  throw new AppError('invalid_input', `Expected ${name} to be from 1 to ${most}; received ${value}.`, { field: name });
}

/** Prints links to headings as nested lists. A heading that skips a level is nested one level only. */
export function printContents(headings: readonly MarkdownHeading[]): string {
  const [first, ...rest] = headings;
  if (!first) return '';
  const sections: { readonly heading: MarkdownHeading; readonly inner: MarkdownHeading[] }[] = [
    { heading: first, inner: [] },
  ];
  for (const heading of rest) {
    const last = sections.at(-1);
    if (last && heading.depth > last.heading.depth) last.inner.push(heading);
    else sections.push({ heading, inner: [] });
  }
  const items = sections.map(
    ({ heading, inner }) =>
      `<li><a href="#${escapeHtml(heading.id)}">${escapeHtml(heading.value)}</a>${printContents(inner)}</li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
