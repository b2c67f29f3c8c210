import { computed, effect, signal } from '@preact/signals';
import { ApiError } from '../../../generated/dashboard/client.js';
import { toTime } from '../shell/times.js';
import { newest } from './board-store.js';
import { FORGE_NAMES } from './rows.js';
import type { Board, ForgeName } from './rows.js';

type Forge = Board['forges'][number];

/** What refusals told since the page was loaded: until when a forge takes no more requests. */
const told = signal<Partial<Record<ForgeName, number>>>({});

const now = signal(Date.now());

/** Until when a forge takes no more requests, in milliseconds; undefined while it takes some. */
export const LOCKS = {
  github: computed(() => findLock('github')),
  forgejo: computed(() => findLock('forgejo')),
  gitlab: computed(() => findLock('gitlab')),
} as const;

/** The element that says why buttons of a forge are locked. */
export const lockId = (forge: ForgeName): string => `lock-${forge}`;

function findLock(name: ForgeName): number | undefined {
  const resets = newest.value?.forges.filter(({ forge }) => forge === name).flatMap(budgetsOf) ?? [];
  const spent = resets.filter(({ severity }) => severity === 'exceeded').map(({ resetsAt }) => Date.parse(resetsAt));
  const until = Math.max(told.value[name] ?? 0, ...spent);
  return until > now.value ? until : undefined;
}

/** Each with what the forge calls it; one that has a single budget calls it nothing. */
export function budgetsOf({ rateLimitGraphQL, rateLimitREST }: Forge) {
  const both = rateLimitGraphQL !== undefined && rateLimitREST !== undefined;
  return [
    ...(rateLimitGraphQL === undefined ? [] : [{ ...rateLimitGraphQL, kind: both ? 'GraphQL ' : '' }]),
    ...(rateLimitREST === undefined ? [] : [{ ...rateLimitREST, kind: both ? 'REST ' : '' }]),
  ];
}

/** Takes the forge at its word. This server's own limits have no `resetsAt`, and lock nothing. */
export function learnLock(forge: ForgeName, error: unknown): void {
  const { resetsAt } = (error instanceof ApiError ? (error.body ?? {}) : {}) as { readonly resetsAt?: unknown };
  if (typeof resetsAt !== 'string') return;
  now.value = Date.now();
  told.value = { ...told.value, [forge]: Date.parse(resetsAt) };
}

/** The clock moves when the next lock ends; until then nothing needs to be drawn again. */
effect(() => {
  const next = Math.min(...Object.values(LOCKS).map(({ value }) => value ?? Infinity));
  if (next === Infinity) return;
  // Timers may come a moment early.
  const timer = setTimeout(() => (now.value = Math.max(Date.now(), next)), next - Date.now());
  return () => clearTimeout(timer);
});

effect(() => {
  if (newest.value !== undefined) now.value = Date.now();
});

export const describeLock = (forge: ForgeName, until: number): string =>
  `${FORGE_NAMES[forge]} takes no more requests until ${toTime(until)}.`;
