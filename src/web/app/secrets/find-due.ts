import { formatDate } from '../ui/times.js';
import { type ConsumerToken, linkToSecret, type ObjectMetadata } from './names.js';

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

/** Returns the tokens that expire soon. */
export function findExpiring(tokens: readonly ConsumerToken[], now: number): readonly DueItem[] {
  return tokens
    .map((token) => ({ token, at: Date.parse(token.expires_at) }))
    .filter(({ token, at }) => !token.revoked && at > now && at - now <= SOON_MS)
    .map(({ token: { consumer, description, expires_at: date }, at }) => ({
      ...{ at, href: '/vault/tokens', isOverdue: false },
      name: `Token “${description}” of ${consumer}`,
      text: `expires on ${formatDate(date)}`,
    }));
}
