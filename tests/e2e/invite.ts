import type { Page } from 'playwright-core';
import type { PageFixture } from './fixtures.js';
import { signUp } from './sign-up.js';

/** A second user with a separate browser and authenticator. The stage collects the complaints of their pages. */
export interface Guest {
  readonly page: Page;
  close(): Promise<void>;
}

/** Invites a user as the admin of a stage and signs them in. */
export async function inviteGuest(stage: PageFixture, username: string): Promise<Guest> {
  const { token } = await stage.page.evaluate(async (name) => {
    const body = JSON.stringify({ username: name, displayName: name });
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch('/api/admin/invites', { method: 'POST', headers, body });
    return (await response.json()) as { readonly token: string };
  }, username);
  const fragment = new URLSearchParams({ invite: token, username });
  return acceptInvitation(stage, `${stage.server.origin}/sign-in#${fragment.toString()}`, username);
}

/** Opens an invitation in a separate browser and creates the account. */
export async function acceptInvitation(stage: PageFixture, link: string, username: string): Promise<Guest> {
  const context = await stage.enter();
  const page = await context.newPage();
  await signUp(page, link, username);
  return { page, close: () => context.close() };
}
