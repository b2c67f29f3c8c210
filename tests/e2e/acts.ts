import type { Locator, Page } from 'playwright-core';

/** A click that comes sooner is taken for the second half of a double click. */
export const DEAF_MS = 450;

/** Clicks, and clicks again once the button asks whether that was meant. */
export async function confirm(button: Locator, question: string): Promise<void> {
  await button.click();
  const asks = button.page().getByRole('button', { name: question, exact: true });
  await asks.waitFor();
  await button.page().waitForTimeout(DEAF_MS);
  await asks.click();
}

/** Does what changes something at the service, and waits until that is done there: a page that is left at once may never send it. */
export async function saved(page: Page, path: string, act: () => Promise<unknown>): Promise<void> {
  const isAnswer = page.waitForResponse(
    (response) => new URL(response.url()).pathname === path && response.request().method() !== 'GET',
  );
  await Promise.all([isAnswer, act()]);
}
