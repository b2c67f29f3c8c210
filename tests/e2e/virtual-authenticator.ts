import type { CDPSession, Page } from 'playwright-core';

/** A device with passkeys that says yes to everything, for the pages of one browser tab. */
export interface VirtualAuthenticator {
  /** How many passkeys it holds. */
  count(): Promise<number>;
}

export interface VirtualAuthenticatorOptions {
  /** Whether its passkeys wrap keys, as those of most devices do. */
  readonly hasPrf?: boolean;
}

export async function addVirtualAuthenticator(
  page: Page,
  { hasPrf = true }: VirtualAuthenticatorOptions = {},
): Promise<VirtualAuthenticator> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      hasPrf,
    },
  });
  return {
    count: async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}
