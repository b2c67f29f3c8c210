import { generateKeyPairSync } from 'node:crypto';
import type { CDPSession, Page } from 'playwright-core';

/** A device with passkeys that says yes to everything unless told otherwise, for the pages of one browser tab. */
export interface VirtualAuthenticator {
  /** How many passkeys it holds. */
  count(): Promise<number>;
  /** Whether its person lets it do what it is asked for from now on. */
  setWilling(isWilling: boolean): Promise<void>;
  /** Puts a passkey for a host into it that no server has seen. */
  addUnknown(host: string): Promise<void>;
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
  const unknown = (host: string) => ({
    credentialId: Buffer.from('unknown').toString('base64'),
    isResidentCredential: true,
    rpId: host,
    userHandle: Buffer.from('nobody').toString('base64'),
    privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ format: 'der', type: 'pkcs8' })
      .toString('base64'),
    signCount: 1,
  });
  return {
    setWilling: async (isUserVerified) => {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    addUnknown: async (host) => {
      await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: unknown(host) });
    },
    count: async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}
