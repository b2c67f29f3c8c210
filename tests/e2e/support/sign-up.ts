import type { BrowserContext, Page } from 'playwright-core';
import { Passkey } from '../../contract/passkey.js';
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
    await page.getByLabel('Display name').fill(toDisplayName(username));
  }
  await page.getByRole('button', { name: 'Create a passkey' }).click();
  await page.getByRole('heading', { name: /^(Pull requests|Services)$/, level: 1 }).waitFor();
  return authenticator;
}

const toDisplayName = (username: string): string => `${username[0]?.toUpperCase()}${username.slice(1)}`;

/**
 * Creates the account of a setup link or an invitation with requests, which takes a fraction of the time of the page,
 * and signs it in. No authenticator has its passkey.
 */
export async function signUpByRequest(context: BrowserContext, link: string, username: string): Promise<void> {
  const { origin, hash } = new URL(link);
  const fragment = new URLSearchParams(hash.slice(1));
  const post = async (path: string, data: unknown): Promise<unknown> => {
    const response = await context.request.post(origin + path, { data, headers: { Origin: origin } });
    expect([path, response.status()]).toEqual([path, 200]);
    return response.json();
  };
  const options = await post('/api/auth/register/begin', {
    ...{ username, displayName: toDisplayName(username) },
    inviteToken: fragment.get('setup') ?? fragment.get('invite'),
  });
  const credential = new Passkey(origin).create(options as Parameters<Passkey['create']>[0]);
  await post(`/api/auth/register/finish?username=${username}`, credential);
}
