import type { BrowserContext, Request } from 'playwright-core';

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
const EXPECTED = /^(?:401 GET \/api\/auth\/session|404 GET \/api\/(?:settings\/\w+|dashboard(?:\/changes)?))$/;

const LOGOUT = /^\/api\/auth\/logout(?:-everywhere)?$/;

/** Creates a watch for browser contexts. Pages may also send requests to the origins in `elsewhere`. */
export function createPageWatch(
  origin: string,
  elsewhere: readonly string[] = [],
): PageWatch & { readonly watch: (context: BrowserContext) => void } {
  const isOther = ({ protocol, origin: other }: URL): boolean => protocol.startsWith('http') && other !== origin;
  const requests: string[] = [];
  const complaints: string[] = [];
  function watch(context: BrowserContext): void {
    const isOvertaken = watchLogouts(context);
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
      if (response.status() < 400 || isOther(url) || EXPECTED.test(summary)) return;
      if (response.status() !== 401 || !isOvertaken(response.request())) complaints.push(summary);
    });
  }
  return { requests, takeComplaints: () => complaints.splice(0), watch };
}

/**
 * Returns a function that returns whether a request was open at the same time as a sign-out. The server answers such a
 * request with or without the session, whichever comes first.
 */
function watchLogouts(context: BrowserContext): (request: Request) => boolean {
  const open = new Set<Request>();
  const logouts = new Set<Request>();
  const overtaken = new WeakSet<Request>();
  context.on('request', (request) => {
    open.add(request);
    if (LOGOUT.test(new URL(request.url()).pathname)) logouts.add(request);
    if (logouts.size > 0) for (const each of open) overtaken.add(each);
  });
  const end = (request: Request): void => {
    open.delete(request);
    logouts.delete(request);
  };
  context.on('requestfinished', end);
  context.on('requestfailed', end);
  return (request) => overtaken.has(request);
}
