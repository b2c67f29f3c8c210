import { createSecretsClient, readAll } from '../../../generated/secrets/client.js';
import { measureClock, onWarning, repeatLostChange, requireData, retry } from '../api.js';
import { repeatAfterSignIn } from '../ui/require-sign-in.js';
import type { ConsumerEntry, ObjectMetadata } from './names.js';

/** The client of the secrets service. The session cookie authenticates it. */
export const secretsClient = createSecretsClient('/secrets', { retry, onWarning });
secretsClient.use(repeatLostChange, measureClock, repeatAfterSignIn);

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

/** Returns the request parameters that identify one variant. */
export const locateSecret = ({ slug, id }: ObjectMetadata) => ({ path: { slug }, query: { id } });
