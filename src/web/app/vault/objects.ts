import type { components } from '../../../generated/secrets/client.js';
import { readAll } from '../../../generated/secrets/client.js';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';

type Schemas = components['schemas'];
export type ObjectMetadata = Schemas['ObjectMetadata'];
export type ObjectVersion = Schemas['ObjectVersion'];
export type ConsumerEntry = Schemas['ConsumerEntry'];
export type AuditLogEntry = Schemas['AuditLogEntry'];

/** Every object of the service, page by page. */
export async function listObjects(): Promise<ObjectMetadata[]> {
  const objects: ObjectMetadata[] = [];
  for await (const object of readAll((query) => secrets.GET('/objects', { params: { query } }))) objects.push(object);
  return objects;
}

/** The variants of a name; none when there is no such object. */
export async function listVariants(slug: string): Promise<readonly ObjectMetadata[]> {
  return requireAnswer(await secrets.GET('/objects', { params: { query: { slug, limit: 500 } } }));
}

/** Every consumer with its key, in the order of names. */
export async function listConsumers(): Promise<ConsumerEntry[]> {
  const consumers: ConsumerEntry[] = [];
  for (let page = 1; ; page += 1) {
    const query = { page, page_size: 100 };
    const answer = requireAnswer(await secrets.GET('/consumers', { params: { query } }));
    // With a parameter the answer is a page.
    if (!('consumers' in answer)) return consumers;
    consumers.push(...answer.consumers);
    if (page * 100 >= answer.total) return consumers;
  }
}

/** How an object is told from others of its name. */
export const placeOf = ({ slug, id }: ObjectMetadata) => ({ path: { slug }, query: { id } });

export const linkTo = ({ slug }: Pick<ObjectMetadata, 'slug'>): string => `/vault/objects/${encodeURIComponent(slug)}`;

/** The secrets of one consumer, in the list of all. */
export const linkToConsumer = (name: string): string => `/vault?consumer=${encodeURIComponent(name)}`;

/** Those of one tag. */
export const linkToTag = (tag: string): string => `/vault?tag=${encodeURIComponent(tag)}`;

/** As the contract has it, in the spelling of browsers, which read patterns with the flag `v`. */
export const SLUG_PATTERN = String.raw`[A-Za-z0-9][A-Za-z0-9_\-]*`;
