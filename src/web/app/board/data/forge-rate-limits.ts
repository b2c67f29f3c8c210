import { computed, effect, signal } from '@preact/signals';
import { ApiError } from '../../../../generated/dashboard/client.js';
import { formatTime, serverNow } from '../../ui/times.js';
import { newestBoard } from './board-store.js';
import { type Board, FORGE_NAMES } from './rows.js';

type Forge = Board['forges'][number];

/** What an action concerns: the forge, and the further credential that acts on it. */
type Place = Pick<Forge, 'credential' | 'forge'>;

/** A credential whose rate limit is exceeded, and until when, in milliseconds since the epoch. */
interface RateLimitLock extends Place {
  readonly until: number;
}

/** The rate limit resets that error responses have reported since the page was loaded. */
const reported = signal<ReadonlyMap<string, RateLimitLock>>(new Map());

const now = signal(serverNow());

/** The name of the forge stands for the credential in the settings. */
const keyOf = ({ forge, credential }: Place): string => credential?.id ?? forge;

const locks = computed<ReadonlyMap<string, RateLimitLock>>(() => {
  const board = newestBoard.value;
  const states = [...(board?.forges ?? []), ...(board?.furtherForges ?? [])];
  const exceeded = states.flatMap((one) =>
    toForgeQuotas(one)
      .filter(({ severity }) => severity === 'exceeded')
      .map(({ resetsAt }) => ({ forge: one.forge, credential: one.credential, until: Date.parse(resetsAt) })),
  );
  const active = [...reported.value.values(), ...exceeded].filter(({ until }) => until > now.value);
  // The last one of a key counts.
  return new Map(active.sort((one, other) => one.until - other.until).map((one) => [keyOf(one), one]));
});

/** Lists the credentials whose forges accept no requests now. */
export const listRateLimitLocks = (): readonly RateLimitLock[] => [...locks.value.values()];

/** Finds the lock of the credential that acts on a row or a repository; `undefined` while its forge accepts requests. */
export const findRateLimitLock = (place: Place): RateLimitLock | undefined => locks.value.get(keyOf(place));

/** The id of the element that explains why the actions of a credential are disabled. */
export const rateLimitNoticeId = (place: Place): string => `lock-${keyOf(place)}`;

/** Returns the API quotas of a forge. Their kind is named only if the forge has two. */
export function toForgeQuotas({ rateLimitGraphQL, rateLimitREST }: Forge) {
  const both = rateLimitGraphQL !== undefined && rateLimitREST !== undefined;
  return [
    ...(rateLimitGraphQL === undefined ? [] : [{ ...rateLimitGraphQL, kind: both ? 'GraphQL ' : '' }]),
    ...(rateLimitREST === undefined ? [] : [{ ...rateLimitREST, kind: both ? 'REST ' : '' }]),
  ];
}

/** Records the rate limit that an error response reports. Errors of this server's own limits have no `resetsAt`. */
export function recordRateLimit({ forge, credential }: Place, error: unknown): void {
  const { resetsAt } = (error instanceof ApiError ? (error.body ?? {}) : {}) as { readonly resetsAt?: unknown };
  if (typeof resetsAt !== 'string') return;
  now.value = serverNow();
  const lock = { forge, credential, until: Date.parse(resetsAt) };
  reported.value = new Map([...reported.value, [keyOf(lock), lock]]);
}

// The clock advances when the next lock ends; until then nothing has to be redrawn.
effect(() => {
  const next = Math.min(...listRateLimitLocks().map(({ until }) => until));
  if (next === Infinity) return;
  // Timers may fire slightly early.
  const timer = setTimeout(() => (now.value = Math.max(serverNow(), next)), next - serverNow());
  return () => clearTimeout(timer);
});

effect(() => {
  if (newestBoard.value !== undefined) now.value = serverNow();
});

/** Returns the name of a forge, with that of the further credential. */
export const nameCredential = ({ forge, credential }: Place): string =>
  credential === undefined ? FORGE_NAMES[forge] : `${FORGE_NAMES[forge]} (${credential.label})`;

export const describeRateLimit = (lock: RateLimitLock): string =>
  `${nameCredential(lock)}’s rate limit is exceeded. Requests resume at ${formatTime(lock.until)}.`;
