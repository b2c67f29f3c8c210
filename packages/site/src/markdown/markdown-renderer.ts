import { hash } from 'node:crypto';
import { limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import { DEADLINE_MS, openMarkdownThread } from './markdown-thread.js';
import { openRenderingCache, type RenderingCache, type RenderingCacheOptions } from './rendering-cache.js';
import type {
  ExcerptFormat,
  HtmlPieces,
  MarkdownReply,
  MarkdownRequest,
  MarkdownSettings,
  Rendering,
} from './rendering.js';

/** Renders Markdown within limits. Each text is rendered once and stored by its content. */
export interface MarkdownRenderer {
  /**
   * @param check Called before the text is rendered. Throws if the result is no longer needed.
   * @throws AppError `unprocessable` for a text that exceeds the limits.
   */
  render(text: string, check: () => void): Promise<Rendering>;
  /** Renders the beginning of a text: as HTML, or as Markdown, which is one piece. */
  excerpt(text: string, excerpt: Excerpt, check: () => void): Promise<HtmlPieces>;
  close(): Promise<void>;
}

export interface Excerpt {
  readonly length: number;
  readonly format: ExcerptFormat;
}

export interface MarkdownRendererOptions extends MarkdownSettings, RenderingCacheOptions {
  readonly deadlineMs?: number;
}

/** Increment it when the same text is rendered differently. */
const VERSION = 1;

/** A long book has half of it. */
const MAX_CHARACTERS = 1024 * 1024;

/** A usual text takes 2 ms. */
const MAX_WAITING = 10_000;

/** Errors of texts are remembered, as a text that takes too long would block the others again. */
const FAILED = { max: 1000, ttl: 10 * 60_000 };

export function openMarkdownRenderer({
  sanitize,
  highlight,
  deadlineMs = DEADLINE_MS,
  ...storage
}: MarkdownRendererOptions): MarkdownRenderer {
  const thread = openMarkdownThread(deadlineMs);
  const failed = new LRUCache<string, AppError>(FAILED);
  const inTurn = limitConcurrency(1);
  let opened: RenderingCache | undefined;
  const cache = (): RenderingCache => (opened ??= openRenderingCache(storage));

  async function make(key: string, request: MarkdownRequest): Promise<unknown> {
    try {
      const value = toValue(await thread.ask(request));
      cache().put(key, value);
      return value;
    } catch (error) {
      if (error instanceof AppError) failed.set(key, error);
      throw error;
    }
  }

  function findKnown(key: string): unknown {
    const failure = failed.get(key);
    if (failure) throw failure;
    return cache().find(key);
  }

  async function find(request: MarkdownRequest, check: () => void): Promise<unknown> {
    const { text, ...settings } = request;
    assertLength(text);
    const key = hash('sha256', `${JSON.stringify([VERSION, settings])} ${text}`);
    const known = findKnown(key);
    if (known !== undefined) return known;
    if (inTurn.count().waiting >= MAX_WAITING)
      throw new AppError('unavailable', 'Too many texts wait to be rendered. Retry in a second.');
    return inTurn(async () => {
      check();
      // Another request may have rendered the same text meanwhile.
      return findKnown(key) ?? make(key, request);
    });
  }

  return {
    render: (text, check) => find({ text, sanitize, highlight }, check) as Promise<Rendering>,
    excerpt: (text, excerpt, check) => find({ text, sanitize, highlight, ...excerpt }, check) as Promise<HtmlPieces>,
    async close() {
      opened?.close();
      opened = undefined;
      await thread.close();
    },
  };
}

function assertLength({ length }: string): void {
  if (length <= MAX_CHARACTERS) return;
  const [limit, received] = [MAX_CHARACTERS, length].map((count) => count.toLocaleString('en'));
  throw new AppError('unprocessable', `Expected at most ${limit} characters of Markdown; received ${received}.`);
}

function toValue(reply: MarkdownReply): Rendering | HtmlPieces {
  if ('rendering' in reply) return reply.rendering;
  if ('html' in reply) return reply.html;
  if ('markdown' in reply) return [reply.markdown];
  const reason = 'error' in reply ? reply.error : 'the thread sent no result.';
  throw new AppError('unprocessable', `The text can't be rendered: ${reason}`);
}
