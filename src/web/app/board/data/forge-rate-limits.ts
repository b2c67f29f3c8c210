import { computed, effect, signal } from '@preact/signals';
import { ApiError } from '../../../../generated/dashboard/client.js';
import { formatTime } from '../../ui/times.js';
import { newestBoard } from './board-store.js';
import { type Board, FORGE_NAMES, type ForgeName } from './rows.js';

type Forge = Board['forges'][number];

/** The rate limit resets that error responses have reported since the page was loaded. */
const reported = signal<Partial<Record<ForgeName, number>>>({});

const now = signal(Date.now());

/** When each forge accepts requests again, in milliseconds since the epoch; `undefined` while it accepts them. */
export const rateLimitedUntil = {
  github: computed(() => findLock('github')),
  forgejo: computed(() => findLock('forgejo')),
  gitlab: computed(() => findLock('gitlab')),
} as const;

/** The id of the element that explains why the actions of a forge are disabled. */
export const rateLimitNoticeId = (forge: ForgeName): string => `lock-${forge}`;

function findLock(name: ForgeName): number | undefined {
  const resets = newestBoard.value?.forges.filter(({ forge }) => forge === name).flatMap(toForgeQuotas) ?? [];
  const exceeded = resets.filter(({ severity }) => severity === 'exceeded').map(({ resetsAt }) => Date.parse(resetsAt));
  const until = Math.max(reported.value[name] ?? 0, ...exceeded);
  return until > now.value ? until : undefined;
}

/** Returns the API quotas of a forge. Their kind is named only if the forge has two. */
export function toForgeQuotas({ rateLimitGraphQL, rateLimitREST }: Forge) {
  const both = rateLimitGraphQL !== undefined && rateLimitREST !== undefined;
  return [
    ...(rateLimitGraphQL === undefined ? [] : [{ ...rateLimitGraphQL, kind: both ? 'GraphQL ' : '' }]),
    ...(rateLimitREST === undefined ? [] : [{ ...rateLimitREST, kind: both ? 'REST ' : '' }]),
  ];
}

/** Records the rate limit that an error response reports. Errors of this server's own limits have no `resetsAt`. */
export function recordRateLimit(forge: ForgeName, error: unknown): void {
  const { resetsAt } = (error instanceof ApiError ? (error.body ?? {}) : {}) as { readonly resetsAt?: unknown };
  if (typeof resetsAt !== 'string') return;
  now.value = Date.now();
  reported.value = { ...reported.value, [forge]: Date.parse(resetsAt) };
}

// The clock advances when the next lock ends; until then nothing has to be redrawn.
effect(() => {
  const next = Math.min(...Object.values(rateLimitedUntil).map(({ value }) => value ?? Infinity));
  if (next === Infinity) return;
  // Timers may fire slightly early.
  const timer = setTimeout(() => (now.value = Math.max(Date.now(), next)), next - Date.now());
  return () => clearTimeout(timer);
});

effect(() => {
  if (newestBoard.value !== undefined) now.value = Date.now();
});

export const describeRateLimit = (forge: ForgeName, until: number): string =>
  `${FORGE_NAMES[forge]}’s rate limit is exceeded. Requests resume at ${formatTime(until)}.`;
