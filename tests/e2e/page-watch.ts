import type { BrowserContext } from 'playwright-core';

/** The recorded activity of the pages of a browser. */
export interface PageWatch {
  /** Every request, with its headers and body. */
  readonly requests: readonly string[];
  /**
   * Returns and clears the complaints: console messages (including policy violations), errors, requests to other
   * origins, and error responses.
   */
  takeComplaints(): string[];
}

/** Error responses that are expected before a sign-in, without settings, and without a board. */
const EXPECTED = /^(?:401 GET \/api\/auth\/session|404 GET \/api\/(?:settings\/\w+|dashboard(?:\/stream)?))$/;

/** Creates a watch for browser contexts. Pages may also send requests to the origins in `elsewhere`. */
export function createPageWatch(
  origin: string,
  elsewhere: readonly string[] = [],
): PageWatch & { readonly watch: (context: BrowserContext) => void } {
  const isOther = ({ protocol, origin: other }: URL): boolean => protocol.startsWith('http') && other !== origin;
  const requests: string[] = [];
  const complaints: string[] = [];
  function watch(context: BrowserContext): void {
    context.on('console', (message) => {
      // Chromium also logs every error response; those are handled below.
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(error.error().message));
    context.on('request', (request) => {
      const url = new URL(request.url());
      if (isOther(url) && !elsewhere.includes(url.origin)) complaints.push(`request to ${url.origin}`);
      requests.push([request.method(), url.href, JSON.stringify(request.headers()), request.postData()].join('\n'));
    });
    context.on('response', (response) => {
      const url = new URL(response.url());
      const summary = `${response.status()} ${response.request().method()} ${url.pathname}`;
      if (response.status() >= 400 && !isOther(url) && !EXPECTED.test(summary)) complaints.push(summary);
    });
  }
  return { requests, takeComplaints: () => complaints.splice(0), watch };
}
