import { text } from 'node:stream/consumers';
import type { Download, Locator, Page } from 'playwright-core';

/** Longer than the time in which `ConfirmButton` ignores a second press as part of a double click. */
export const CONFIRM_DELAY_MS = 450;

/** Clicks a button and clicks it again once it shows its confirmation. */
export async function pressAndConfirm(button: Locator, question: string): Promise<void> {
  await button.click();
  const confirmation = button.page().getByRole('button', { name: question, exact: true });
  await confirmation.waitFor();
  await button.page().waitForTimeout(CONFIRM_DELAY_MS);
  await confirmation.click();
}

/** Performs a change and waits for its response: a page that is left at once may never send the request. */
export async function waitForSave(page: Page, path: string, act: () => Promise<unknown>): Promise<void> {
  const response = page.waitForResponse(
    (received) => new URL(received.url()).pathname === path && received.request().method() !== 'GET',
  );
  await Promise.all([response, act()]);
}

/** Returns the variables that commands of a shell export. */
export const readExports = (commands: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...commands.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));

/** Returns the text of a downloaded file. */
export const readDownload = async (download: Download): Promise<string> => text(await download.createReadStream());
