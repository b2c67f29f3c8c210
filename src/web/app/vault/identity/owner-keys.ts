import type { components } from '../../../../generated/secrets/client.js';
import { requireAnswer } from '../../answers.js';
import { secrets } from '../client.js';

type Schemas = components['schemas'];
export type Passkey = Schemas['Credential'];

/** What the server keeps of the owner's identity: nothing that it can open. */
export interface OwnerKeys {
  /** Left out while there is no identity. */
  readonly publicKey?: string | undefined;
  /** The identity wrapped by the recovery phrase. */
  readonly recovery?: string | undefined;
  readonly passkeys: readonly Passkey[];
}

export async function loadOwnerKeys(): Promise<OwnerKeys> {
  const [identity, passkeys] = await Promise.all([
    secrets.GET('/auth/identity'),
    secrets.GET('/credentials', { params: { query: { limit: 500 } } }),
  ]);
  const { public_key: publicKey, recovery_wrapped_identity: recovery } = requireAnswer(identity);
  return { publicKey, recovery, passkeys: requireAnswer(passkeys) };
}

/** @returns what is kept from now on, which of a phrase is the first. */
export async function keepIdentity(body: Schemas['KeepIdentityRequest']): Promise<Schemas['OwnerIdentity']> {
  return requireAnswer(await secrets.PUT('/auth/identity', { body }));
}
