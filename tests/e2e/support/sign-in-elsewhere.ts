import type { BrowserContext } from 'playwright-core';
import { Passkey } from '../../contract/passkey.js';
import type { PageFixture } from './fixtures.js';

/** Adds a passkey to the account of the page, and signs in with it in a separate browser. */
export async function signInElsewhere(stage: PageFixture, userAgent: string): Promise<BrowserContext> {
  const { origin } = stage.server;
  const elsewhere = await stage.enter();
  const headers = { Origin: origin, 'User-Agent': userAgent };
  const post = async (context: BrowserContext, path: string, data?: unknown): Promise<unknown> => {
    const response = await context.request.post(`${origin}/api/auth/${path}`, { headers, data });
    expect([path, response.ok()]).toEqual([path, true]);
    return response.json();
  };
  const passkey = new Passkey(origin);
  const creation = (await post(stage.context, 'credentials/begin')) as Parameters<Passkey['create']>[0];
  await post(stage.context, 'credentials/finish?label=elsewhere', passkey.create(creation));
  const request = (await post(elsewhere, 'login/begin', {})) as Parameters<Passkey['get']>[0];
  await post(elsewhere, 'login/finish', passkey.get(request));
  return elsewhere;
}
