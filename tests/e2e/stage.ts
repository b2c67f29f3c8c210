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
  const house = await openHouse(options);
  try {
    const context = await house.enter();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: house.server.origin });
    const page = await context.newPage();
    await signUp(page, house.setupLink, 'ada', options);
    return { ...house, context, page };
  } catch (error) {
    // The caller has nothing to close if this fails.
    await house.close();
    throw error;
  }
}
