import type { BrowserContext, Page } from 'playwright-core';
import { signUp } from './sign-up.js';
import { startWatchedServer, type WatchedServer, type WatchedServerOptions } from './test-server.js';
import type { VirtualAuthenticatorOptions } from './virtual-authenticator.js';

/** A running server with a browser in which the admin is signed in. */
export interface PageFixture extends WatchedServer {
  readonly context: BrowserContext;
  readonly page: Page;
}

export type PageFixtureOptions = WatchedServerOptions & VirtualAuthenticatorOptions;

export async function openPageFixture(options: PageFixtureOptions = {}): Promise<PageFixture> {
  const testServer = await startWatchedServer(options);
  try {
    const context = await testServer.enter();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: testServer.server.origin });
    const page = await context.newPage();
    await signUp(page, testServer.setupLink, 'ada', options);
    return { ...testServer, context, page };
  } catch (error) {
    // The caller has nothing to close if this fails.
    await testServer.close();
    throw error;
  }
}
