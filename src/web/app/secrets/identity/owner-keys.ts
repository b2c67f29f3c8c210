import type { components } from '../../../../generated/secrets/client.js';
import { requireData } from '../../api.js';
import { secretsClient } from '../secrets.js';

type Schemas = components['schemas'];
export type StoredPasskey = Schemas['Credential'];

/** The data that the server stores about the owner's identity. It can decrypt none of it. */
export interface OwnerKeyData {
  /** Omitted while there is no identity. */
  readonly publicKey?: string;
  /** The identity, wrapped with the recovery phrase: an armored age file. */
  readonly recovery?: string;
  readonly passkeys: readonly StoredPasskey[];
}

export async function loadOwnerKeys(): Promise<OwnerKeyData> {
  const [identity, passkeys] = await Promise.all([
    secretsClient.GET('/auth/identity'),
    secretsClient.GET('/credentials', { params: { query: { limit: 500 } } }),
  ]);
  const { public_key: publicKey, recovery_wrapped_identity: recovery } = requireData(identity);
  return { publicKey, recovery, passkeys: requireData(passkeys) };
}

/** Saves keys and wrapped copies, and returns the stored state. A stored recovery copy is never replaced. */
export async function saveOwnerIdentity(body: Schemas['KeepIdentityRequest']): Promise<Schemas['OwnerIdentity']> {
  return requireData(await secretsClient.PUT('/auth/identity', { body }));
}
