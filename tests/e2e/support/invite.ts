import type { Page } from 'playwright-core';
import type { PageFixture } from './fixtures.js';
import { signUp, signUpByRequest } from './sign-up.js';

/** A second user with a separate browser and authenticator. The stage collects the complaints of their pages. */
export interface Guest {
  readonly page: Page;
  close(): Promise<void>;
}

/** Invites a user as the admin of a stage and signs them in, without an authenticator and with an empty tab. */
export async function inviteGuest(stage: PageFixture, username: string): Promise<Guest> {
  const { origin } = stage.server;
  const data = { username, displayName: username };
  const response = await stage.context.request.post(`${origin}/api/admin/invites`, {
    data,
    headers: { Origin: origin },
  });
  const { token } = (await response.json()) as { readonly token: string };
  const context = await stage.enter();
  const fragment = new URLSearchParams({ invite: token, username });
  await signUpByRequest(context, `${origin}/sign-in#${fragment.toString()}`, username);
  return { page: await context.newPage(), close: () => context.close() };
}

/** Opens an invitation in a separate browser and creates the account. */
export async function acceptInvitation(stage: PageFixture, link: string, username: string): Promise<Guest> {
  const context = await stage.enter();
  const page = await context.newPage();
  await signUp(page, link, username);
  return { page, close: () => context.close() };
}
