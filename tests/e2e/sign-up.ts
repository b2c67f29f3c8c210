import type { Page } from 'playwright-core';
import {
  addVirtualAuthenticator,
  type VirtualAuthenticator,
  type VirtualAuthenticatorOptions,
} from './virtual-authenticator.js';

/** Creates the account of a setup link or an invitation in a tab with its own authenticator, up to the first page. */
export async function signUp(
  page: Page,
  link: string,
  username: string,
  device: VirtualAuthenticatorOptions = {},
): Promise<VirtualAuthenticator> {
  const authenticator = await addVirtualAuthenticator(page, device);
  await page.goto(link);
  const field = page.getByLabel('Username', { exact: true });
  await field.waitFor();
  // An invitation fixes the username and the display name.
  if (await field.isEditable()) {
    await field.fill(username);
    await page.getByLabel('Display name').fill(`${username[0]?.toUpperCase()}${username.slice(1)}`);
  }
  await page.getByRole('button', { name: 'Create a passkey' }).click();
  await page.getByRole('heading', { name: /^(Pull requests|Services)$/, level: 1 }).waitFor();
  return authenticator;
}
