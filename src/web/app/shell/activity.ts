import { computed, effect, signal } from '@preact/signals';
import { user } from '../session.js';

export interface Deed {
  readonly at: string;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

interface Kept {
  /** Whose deeds they are; nobody else who signs in here is shown them. */
  readonly username: string;
  readonly deeds: readonly Deed[];
}

const KEPT_AS = 'trellis-activity';

/** A day's work; more nobody reads. */
const MOST = 50;

const kept = signal<Kept | undefined>(read());

/** What the person did in this browser and how it went, newest first. */
export const activity = computed(() =>
  kept.value?.username === user.value?.username ? (kept.value?.deeds ?? []) : [],
);

/** Writes down what a person is told. Other tabs may have written since. */
export function record(text: string, kind: Deed['kind']): void {
  const username = user.value?.username;
  if (username === undefined) return;
  const before = read();
  const deeds = before?.username === username ? before.deeds : [];
  keep({ username, deeds: [{ at: new Date().toISOString(), text, kind }, ...deeds].slice(0, MOST) });
}

export function clearActivity(): void {
  keep(undefined);
}

function keep(next: Kept | undefined): void {
  kept.value = next;
  if (next === undefined) localStorage.removeItem(KEPT_AS);
  else localStorage.setItem(KEPT_AS, JSON.stringify(next));
}

function read(): Kept | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT_AS) ?? '') as Partial<Kept>;
    return typeof found.username === 'string' && Array.isArray(found.deeds) ? (found as Kept) : undefined;
  } catch {
    return undefined;
  }
}

addEventListener('storage', ({ key }) => {
  if (key === KEPT_AS) kept.value = read();
});

// Whoever signs out leaves nothing of what they did.
effect(() => {
  if (user.value === null && kept.peek() !== undefined) clearActivity();
});
