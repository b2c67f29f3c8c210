import type { BrowserContext, Page } from 'playwright-core';
import { signUp, signUpByRequest } from './sign-up.js';
import { startWatchedServer, type WatchedServer, type WatchedServerOptions } from './test-server.js';
import type { VirtualAuthenticatorOptions } from './virtual-authenticator.js';

/** A running server with a browser in which the admin is signed in. */
export interface PageFixture extends WatchedServer {
  readonly context: BrowserContext;
  readonly page: Page;
}

export type PageFixtureOptions = WatchedServerOptions & VirtualAuthenticatorOptions;

/** Signs up on the page, with an authenticator that stays in the tab. */
export const openPageFixture = ({ hasPrf = true, ...options }: PageFixtureOptions = {}): Promise<PageFixture> =>
  openFixture(options, async (page, setupLink) => void (await signUp(page, setupLink, 'ada', { hasPrf })));

/** Like `openPageFixture`, but with an empty tab and without an authenticator. */
export const openSignedInFixture = (options: WatchedServerOptions): Promise<PageFixture> =>
  openFixture(options, (page, setupLink) => signUpByRequest(page.context(), setupLink, 'ada'));

async function openFixture(
  options: WatchedServerOptions,
  enter: (page: Page, setupLink: string) => Promise<void>,
): Promise<PageFixture> {
  const testServer = await startWatchedServer(options);
  try {
    const context = await testServer.enter();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: testServer.server.origin });
    const page = await context.newPage();
    await enter(page, testServer.setupLink);
    return { ...testServer, context, page };
  } catch (error) {
    // The caller has nothing to close if this fails.
    await testServer.close();
    throw error;
  }
}
