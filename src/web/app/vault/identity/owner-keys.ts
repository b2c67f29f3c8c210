import type { components } from '../../../../generated/secrets/client.js';
import { requireAnswer } from '../../answers.js';
import { secrets } from '../client.js';

type Schemas = components['schemas'];
export type Passkey = Schemas['Credential'];

/** The data that the server stores about the owner's identity. It can decrypt none of it. */
export interface OwnerKeys {
  /** Omitted while there is no identity. */
  readonly publicKey?: string | undefined;
  /** The identity, wrapped with the recovery phrase: an armored age file. */
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

/** Saves keys and wrapped copies, and returns the stored state. A stored recovery copy is never replaced. */
export async function keepIdentity(body: Schemas['KeepIdentityRequest']): Promise<Schemas['OwnerIdentity']> {
  return requireAnswer(await secrets.PUT('/auth/identity', { body }));
}
