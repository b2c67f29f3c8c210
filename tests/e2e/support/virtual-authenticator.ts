import { generateKeyPairSync } from 'node:crypto';
import type { CDPSession, Page } from 'playwright-core';

/** A virtual authenticator for one browser tab. It approves every request unless it is made unwilling. */
export interface VirtualAuthenticator {
  /** Returns the number of its passkeys. */
  count(): Promise<number>;
  /** Sets whether it approves further requests. */
  setWilling(isWilling: boolean): Promise<void>;
  /** Adds a passkey for a host that no server knows. */
  addUnknown(host: string): Promise<void>;
}

export interface VirtualAuthenticatorOptions {
  /** Whether its passkeys support the PRF extension, which can wrap keys. */
  readonly hasPrf?: boolean;
}

export async function addVirtualAuthenticator(
  page: Page,
  { hasPrf = true }: VirtualAuthenticatorOptions = {},
): Promise<VirtualAuthenticator> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  let authenticatorId = await add(devtools, { hasPrf, isWilling: true });
  const list = async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  return {
    count: async () => (await list()).length,
    async setWilling(isWilling) {
      // Replaced by a new one with the same passkeys, as a failed user verification blocks a virtual authenticator.
      const held = await list();
      await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
      authenticatorId = await add(devtools, { hasPrf, isWilling });
      for (const credential of held) await devtools.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
    async addUnknown(host) {
      await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: makeUnknown(host) });
    },
  };
}

interface Device {
  readonly hasPrf: boolean;
  readonly isWilling: boolean;
}

async function add(devtools: CDPSession, { hasPrf, isWilling }: Device): Promise<string> {
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: isWilling,
      automaticPresenceSimulation: true,
      hasPrf,
    },
  });
  return authenticatorId;
}

const makeUnknown = (rpId: string) => ({
  credentialId: Buffer.from('unknown').toString('base64'),
  isResidentCredential: true,
  rpId,
  userHandle: Buffer.from('nobody').toString('base64'),
  privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64'),
  signCount: 1,
});
