import type { BrowserContext } from 'playwright-core';

/** What the pages of a browser did so far. */
export interface Watched {
  /** Every request, with its headers and body. */
  readonly requests: readonly string[];
  /** What no page may do: complain on the console (as of what its policy forbids), fail, ask another origin, or be refused by the server; emptied by reading. */
  takeComplaints(): string[];
}

/** Answers that are no failure: nobody is signed in yet, nothing is set, and there is no board. */
const EXPECTED = /^(?:401 GET \/api\/auth\/session|404 GET \/api\/(?:settings\/\w+|dashboard(?:\/stream)?))$/;

/** Watches pages of people who each have cookies of their own; what they link to on the origins in `elsewhere` may be opened. */
export function createWatch(
  origin: string,
  elsewhere: readonly string[] = [],
): Watched & { readonly watch: (context: BrowserContext) => void } {
  const isOther = ({ protocol, origin: other }: URL): boolean => protocol.startsWith('http') && other !== origin;
  const requests: string[] = [];
  const complaints: string[] = [];
  function watch(context: BrowserContext): void {
    context.on('console', (message) => {
      // Chromium writes every answer of 400 and more there; they are looked at below.
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
      const told = `${response.status()} ${response.request().method()} ${url.pathname}`;
      if (response.status() >= 400 && !isOther(url) && !EXPECTED.test(told)) complaints.push(told);
    });
  }
  return { requests, takeComplaints: () => complaints.splice(0), watch };
}
