import type { components } from '../../../generated/secrets/client.js';

type Schemas = components['schemas'];
export type ObjectMetadata = Schemas['ObjectMetadata'];
export type ObjectVersion = Schemas['ObjectVersion'];
export type ConsumerEntry = Schemas['ConsumerEntry'];
export type ConsumerToken = Schemas['ConsumerTokenMetadata'];
export type AuditLogEntry = Schemas['AuditLogEntry'];

/** Returns the address of the page of a secret. */
export const linkToSecret = ({ slug }: Pick<ObjectMetadata, 'slug'>): string =>
  `/vault/objects/${encodeURIComponent(slug)}`;

/** Returns the address of the list of secrets, filtered by consumer. */
export const linkToConsumer = (name: string): string => `/vault?consumer=${encodeURIComponent(name)}`;

/** Returns the address of the list of secrets, filtered by tag. */
export const linkToTag = (tag: string): string => `/vault?tag=${encodeURIComponent(tag)}`;

/**
 * The pattern of the contract's slugs, with the escapes that browsers need as they compile `pattern` with the `v` flag.
 * Pages remove white space at both ends, which a copied name may have.
 */
export const SLUG_PATTERN = String.raw`\s*[A-Za-z0-9][A-Za-z0-9_\-]*\s*`;

/** A comma-separated list of `Tag` values of the contract. The server converts upper case to lower case. */
export const TAGS_PATTERN = '\\s*([A-Za-z0-9._\\/\\-]{1,32}\\s*(,\\s*|$))*';

/** Parses a text that matches {@link TAGS_PATTERN}. */
export const splitTags = (text: string): readonly string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
