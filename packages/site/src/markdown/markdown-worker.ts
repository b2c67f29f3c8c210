import { parentPort } from 'node:worker_threads';
import { excerptMarkdown, render, renderExcerpt } from './render.js';
import type { MarkdownReply, MarkdownRequest } from './rendering.js';

function reply(request: MarkdownRequest): MarkdownReply {
  if (!('format' in request)) return { rendering: render(request) };
  return request.format === 'HTML' ? { html: renderExcerpt(request) } : { markdown: excerptMarkdown(request) };
}

/** Recursion in a parser may end in an overflow of the stack, which leaves the thread intact. */
const toError = (error: unknown): MarkdownReply => ({
  error:
    error instanceof RangeError && error.message.startsWith('Maximum call stack')
      ? 'Expected elements that are nested less deeply.'
      : (error as Error).message,
});

// Announces readiness, so that loading this module does not count towards a deadline.
parentPort?.postMessage({ ready: true } satisfies MarkdownReply);

parentPort?.on('message', (request: MarkdownRequest) => {
  try {
    parentPort?.postMessage(reply(request));
  } catch (error) {
    parentPort?.postMessage(toError(error));
  }
});
