import type { Page } from 'playwright-core';

/** What no page of ours may do: complain on the console (as of what its policy forbids), fail, or ask another origin. */
export function watchPage(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Chromium writes every answer of 400 and more there, which 401 for nobody is, and 404 before settings are saved.
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`request to ${url.origin}`);
  });
  return complaints;
}
