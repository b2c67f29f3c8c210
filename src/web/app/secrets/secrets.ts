import { ApiError, createSecretsClient, readAll } from '../../../generated/secrets/client.js';
import { type SealingCode, SealingError } from '../../../sealing/sealing-error.js';
import {
  limitRequest,
  measureClock,
  onWarning,
  type Problem,
  repeatLostChange,
  requireData,
  retry,
  toProblem,
} from '../api.js';
import { useFormError } from '../ui/form.js';
import { repeatAfterSignIn } from '../ui/require-sign-in.js';
import type { ConsumerEntry, ObjectMetadata } from './metadata.js';

/** The client of the secrets service. The session cookie authenticates it. */
export const secretsClient = createSecretsClient('/secrets', { retry, onWarning });
secretsClient.use(limitRequest, repeatLostChange, measureClock, repeatAfterSignIn);

/** Lists all secrets, each variant on its own. */
export async function listAllSecrets(): Promise<ObjectMetadata[]> {
  const objects: ObjectMetadata[] = [];
  for await (const object of readAll((query) => secretsClient.GET('/objects', { params: { query } })))
    objects.push(object);
  return objects;
}

/** Lists the variants of a slug with their signatures; empty when there is no such secret. */
export async function listVariants(slug: string): Promise<readonly ObjectMetadata[]> {
  const variants: ObjectMetadata[] = [];
  const query = { slug, signatures: true };
  for await (const variant of readAll(secretsClient, '/objects', { params: { query } })) variants.push(variant);
  return variants;
}

/** Lists all consumers with their public keys, by name. */
export async function listAllConsumers(): Promise<ConsumerEntry[]> {
  const consumers: ConsumerEntry[] = [];
  for (let page = 1; ; page += 1) {
    const query = { page, page_size: 100 };
    const result = requireData(await secretsClient.GET('/consumers', { params: { query } }));
    // The type allows a plain list too, which the service returns only without parameters.
    if (!('consumers' in result)) return consumers;
    consumers.push(...result.consumers);
    if (page * 100 >= result.total) return consumers;
  }
}

/** Returns the owner's public key; `undefined` before an identity exists. */
export const findOwnPublicKey = async (): Promise<string | undefined> =>
  requireData(await secretsClient.GET('/auth/identity')).public_key;

/** Loads the owner's public key; the object distinguishes a missing key from one that is not loaded yet. */
export const loadOwnPublicKey = async () => ({ key: await findOwnPublicKey() });

/** Returns the request parameters that identify one variant. */
export const locateSecret = ({ slug, id }: ObjectMetadata) => ({ path: { slug }, query: { id } });

/** Like {@link useFormError}, with messages for errors of sealing, opening and storing values. */
export const useSealingError = <Args extends readonly unknown[]>(work: (...args: Args) => Promise<void>) =>
  useFormError(work, toSealingProblem);

/** Returns the error that a page shows when a value could not be sealed, opened or stored. */
export function toSealingProblem(error: unknown): Problem {
  const problem = toProblem(error);
  const message = error instanceof SealingError ? MESSAGES[error.code] : findStorageMessage(problem);
  return message === undefined ? problem : { ...problem, message };
}

function findStorageMessage({ code, field = '' }: Problem): string | undefined {
  if (code === 'conflict') return CONFLICTS[field];
  return code === 'precondition_failed' ? CHANGED : undefined;
}

const CHANGED =
  'This secret was changed in the meantime, so your change was not saved. Check its current state, and try again.';

/** The other codes show the message of the error, which names the parties whose key is missing. */
const MESSAGES: Partial<Record<SealingCode, string>> = {
  too_large: 'Encrypted values can be at most 1 MiB; this one is larger.',
  no_match:
    'This value isn’t encrypted to the key that you used. To read it with your key, replace it and include your key.',
  key_changed: 'A public key has changed and was not accepted, so nothing was encrypted.',
  not_sealed: 'The stored value is not a valid age file.',
};

/** Messages by the field of the request that causes the conflict. */
const CONFLICTS: Readonly<Record<string, string>> = {
  slug: 'A secret with this name already exists. Secrets can share a name only if each has its own consumers.',
  used_by: 'Another variant of this secret already belongs to one of these consumers.',
};

/** Repeats a change that exceeds the rate limit, as changes of hundreds of secrets in a minute do. */
export async function waitForRateLimit(change: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await change();
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.statusCode === 429)) throw error;
      const { retryAfter = 1 } = error;
      await new Promise((resolve) => setTimeout(resolve, retryAfter * 1_000));
    }
  }
}
