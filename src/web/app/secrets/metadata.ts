import type { components } from '../../../generated/secrets/client.js';
import { formatDate } from '../ui/times.js';

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

/** Returns the options of a filter in alphabetical order. The chosen value stays an option when no secret has it. */
export const toFilterOptions = (values: readonly string[], chosen: string): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(chosen === '' ? values : [...values, chosen])]
    .sort((a, b) => a.localeCompare(b))
    .map((value) => [value, value] as const),
];

const DAY_MS = 86_400_000;

/** Work that is due within this time is listed. */
const SOON_MS = 14 * DAY_MS;

/** Something that the owner should do soon. */
export interface DueItem {
  /** The time at which it was or is due; 0 for work that has no date. */
  readonly at: number;
  readonly href: string;
  readonly name: string;
  readonly text: string;
  readonly isOverdue: boolean;
}

/** Returns what is due for a secret: to re-encrypt it, or to rotate its value, in this order. */
export function findDueWork(object: ObjectMetadata, now: number): DueItem | undefined {
  const known = { href: linkToSecret(object), name: object.slug };
  if (object.reseal !== undefined) return { ...known, at: 0, text: 'needs re-encryption', isOverdue: true };
  if (object.rotation_due_at === undefined) return undefined;
  const date = object.rotation_due_at;
  const at = Date.parse(date);
  if (at - now > SOON_MS) return undefined;
  const isOverdue = object.rotation_due === true;
  return { ...known, at, text: `rotation ${isOverdue ? 'due since' : 'due on'} ${formatDate(date)}`, isOverdue };
}

/** Orders secrets: those with the earliest due work first, then by name. */
export const sortByDue = (objects: readonly ObjectMetadata[], now: number): readonly ObjectMetadata[] =>
  objects
    .map((object) => ({ object, at: findDueWork(object, now)?.at ?? Infinity }))
    .sort((a, b) => (a.at === b.at ? a.object.slug.localeCompare(b.object.slug) : a.at - b.at))
    .map(({ object }) => object);

/** The address of the page with all tokens. */
export const TOKENS_PATH = '/vault/tokens';

/** Returns the tokens that expire soon. */
export function findExpiring(tokens: readonly ConsumerToken[], now: number): readonly DueItem[] {
  return tokens
    .map((token) => ({ token, at: Date.parse(token.expires_at) }))
    .filter(({ token, at }) => !token.revoked && at > now && at - now <= SOON_MS)
    .map(({ token: { consumer, description, expires_at: date }, at }) => ({
      ...{ at, href: TOKENS_PATH, isOverdue: false },
      name: `Token “${description}” of ${consumer}`,
      text: `expires on ${formatDate(date)}`,
    }));
}

/** Whether a reader can open the current value. */
export type ReaderState = 'current' | 'outdated' | 'no-key' | 'unknown';

/** A party that can read a value, or should be able to. */
export interface Reader {
  /** Omitted for a key that belongs to no consumer of the secret. */
  readonly name?: string;
  readonly isConsumer: boolean;
  readonly key?: string;
  readonly fingerprint?: string;
  readonly state: ReaderState;
}

/** Lists the keys that a value is encrypted to and the consumers that should be able to read it. */
export function findReaders(
  { used_by: usedBy = [], recipients = [] }: Pick<ObjectMetadata, 'recipients' | 'used_by'>,
  ownKey: string | undefined,
  consumers: readonly ConsumerEntry[],
): readonly Reader[] {
  const known = new Map(consumers.map(({ name, public_key: key }) => [name, key]));
  const named = usedBy.map((name): Reader => {
    const key = known.get(name);
    if (key === undefined) return { name, isConsumer: true, state: 'no-key' };
    return { name, isConsumer: true, key, state: recipients.includes(key) ? 'current' : 'outdated' };
  });
  const isOwn = ownKey !== undefined && recipients.includes(ownKey);
  const own: Reader[] = isOwn ? [{ name: 'You', isConsumer: false, key: ownKey, state: 'current' }] : [];
  const listed = new Set([...own, ...named].map(({ key }) => key));
  const others = recipients.filter((key) => !listed.has(key));
  return [...own, ...named, ...others.map((key): Reader => ({ isConsumer: false, key, state: 'unknown' }))];
}
