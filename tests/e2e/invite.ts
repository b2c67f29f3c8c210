import type { Page } from 'playwright-core';
import { signUp } from './sign-up.js';
import type { Stage } from './stage.js';

/** Somebody else, with a browser and a device of their own, whose complaints are those of the stage. */
export interface Guest {
  readonly page: Page;
  close(): Promise<void>;
}

/** Has the owner of a stage invite somebody, who comes and signs in. */
export async function inviteInto(stage: Stage, username: string): Promise<Guest> {
  const { token } = await stage.page.evaluate(async (name) => {
    const body = JSON.stringify({ username: name, displayName: name });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch('/api/admin/invites', { method: 'POST', headers, body });
    return (await answer.json()) as { readonly token: string };
  }, username);
  const fragment = new URLSearchParams({ invite: token, username });
  return acceptInvitation(stage, `${stage.server.origin}/sign-in#${fragment.toString()}`, username);
}

/** Follows a link of the owner's in another browser. */
export async function acceptInvitation(stage: Stage, link: string, username: string): Promise<Guest> {
  const context = await stage.enter();
  const page = await context.newPage();
  await signUp(page, link, username);
  return { page, close: () => context.close() };
}
