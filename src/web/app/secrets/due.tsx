import { type components, readAll } from '../../../generated/secrets/client.js';
import { useResource } from '../ui/resource.js';
import { formatDate } from '../ui/times.js';
import { linkToSecret, type ObjectMetadata, secretsClient } from './secrets.js';

const DAY_MS = 86_400_000;

/** Work that is due within this time is listed. */
const SOON_MS = 14 * DAY_MS;

type ConsumerToken = components['schemas']['ConsumerTokenMetadata'];

/** Something that the owner should do soon. */
interface DueItem {
  /** The time at which it was or is due; 0 for work that has no date. */
  readonly at: number;
  readonly href: string;
  readonly name: string;
  readonly text: string;
  readonly isOverdue: boolean;
}

/** Returns what is due for a secret: to re-encrypt it, or to rotate its value, in this order. */
export function findDue(object: ObjectMetadata, now: number): DueItem | undefined {
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
    .map((object) => ({ object, at: findDue(object, now)?.at ?? Infinity }))
    .sort((a, b) => (a.at === b.at ? a.object.slug.localeCompare(b.object.slug) : a.at - b.at))
    .map(({ object }) => object);

async function listConsumerTokens(): Promise<readonly ConsumerToken[]> {
  const tokens: ConsumerToken[] = [];
  for await (const token of readAll((query) => secretsClient.GET('/consumer-tokens', { params: { query } })))
    tokens.push(token);
  return tokens;
}

function findExpiring(tokens: readonly ConsumerToken[], now: number): readonly DueItem[] {
  return tokens
    .map((token) => ({ token, at: Date.parse(token.expires_at) }))
    .filter(({ token, at }) => !token.revoked && at > now && at - now <= SOON_MS)
    .map(({ token: { consumer, description, expires_at: date }, at }) => ({
      ...{ at, href: '/vault/tokens', isOverdue: false },
      name: `Token “${description}” of ${consumer}`,
      text: `expires on ${formatDate(date)}`,
    }));
}

/** The list of due work is collapsed to this many entries. */
const SHOWN = 5;

/** Lists secrets to rotate or re-encrypt and tokens that expire soon. It is absent while nothing is due. */
export function DueWork({ objects }: { readonly objects: readonly ObjectMetadata[] }) {
  const tokens = useResource(listConsumerTokens);
  const now = Date.now();
  const due = [...objects.flatMap((object) => findDue(object, now) ?? []), ...findExpiring(tokens.value ?? [], now)];
  if (due.length === 0) return null;
  const sorted = due.sort((a, b) => a.at - b.at);
  return (
    <section class="due" aria-labelledby="due-work">
      <h2 id="due-work">Due ({due.length})</h2>
      <ul>
        {sorted.slice(0, SHOWN).map(({ href, name, text, isOverdue }) => (
          <li key={`${href} ${name}`}>
            <a href={href}>
              <bdi>{name}</bdi>
            </a>{' '}
            <span class={isOverdue ? 'bad' : 'wait'}>{text}</span>
          </li>
        ))}
      </ul>
      {sorted.length > SHOWN && (
        <p class="quiet">and {sorted.length - SHOWN} more, which are first in the list below</p>
      )}
    </section>
  );
}
