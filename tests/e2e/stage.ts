import type { BrowserContext, Page } from 'playwright-core';
import { openHouse } from './house.js';
import type { House, HouseOptions } from './house.js';
import { signUp } from './sign-up.js';
import type { VirtualAuthenticatorOptions } from './virtual-authenticator.js';

/** A running server with a browser in which the admin is signed in. */
export interface Stage extends House {
  readonly context: BrowserContext;
  readonly page: Page;
}

export type StageOptions = HouseOptions & VirtualAuthenticatorOptions;

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const testServer = await openHouse(options);
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
