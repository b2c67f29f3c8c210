import { computed, effect, signal } from '@preact/signals';
import { user } from '../session.js';

export interface ActivityEntry {
  readonly at: string;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

interface StoredActivity {
  /** The user who performed the actions; other users of this browser do not see them. */
  readonly username: string;
  readonly deeds: readonly ActivityEntry[];
}

const STORAGE_KEY = 'trellis-activity';

const MAX_ENTRIES = 50;

const stored = signal<StoredActivity | undefined>(read());

/** The user's actions in this browser and their outcomes, newest first. */
export const activity = computed(() =>
  stored.value?.username === user.value?.username ? (stored.value?.deeds ?? []) : [],
);

/** Adds a message to the activity of this browser. Reads the storage first, as other tabs may have added messages. */
export function recordActivity(text: string, kind: ActivityEntry['kind']): void {
  const username = user.value?.username;
  if (username === undefined) return;
  const before = read();
  const deeds = before?.username === username ? before.deeds : [];
  store({ username, deeds: [{ at: new Date().toISOString(), text, kind }, ...deeds].slice(0, MAX_ENTRIES) });
}

export function clearActivity(): void {
  store(undefined);
}

function store(next: StoredActivity | undefined): void {
  stored.value = next;
  try {
    if (next === undefined) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, JSON.stringify(next));
  } catch {
    // The storage is full or blocked. The page shows the activity all the same.
  }
}

function read(): StoredActivity | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '') as Partial<StoredActivity>;
    return typeof found.username === 'string' && Array.isArray(found.deeds) ? (found as StoredActivity) : undefined;
  } catch {
    return undefined;
  }
}

addEventListener('storage', ({ key }) => {
  if (key === STORAGE_KEY) stored.value = read();
});

// Signing out deletes the activity.
effect(() => {
  if (user.value === null && stored.peek() !== undefined) clearActivity();
});
