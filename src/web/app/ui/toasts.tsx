import { computed, effect, signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { describeProblem, type Problem, toProblem } from '../api.js';
import { user } from '../session.js';
import { sharedStorage } from './browser-storage.js';
import { Menu } from './menu.js';
import { formatDateTime, serverNow } from './times.js';

export interface Toast extends Pick<Problem, 'message' | 'requestId'> {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  /** Undoes the action that the message is about. */
  readonly undo?: () => Promise<unknown>;
}

export const toasts = signal<readonly Toast[]>([]);

/** More toasts would hide the page. */
const MAX_TOASTS = 4;

let last = 0;

/** Shows that an action was performed, and adds it to the activity. Screen readers announce it when they pause. */
export function showToast(message: string): void {
  add({ message, kind: 'done' });
}

/**
 * Shows an error until it is dismissed, and adds it to the activity. Screen readers announce it at once. Returns its id.
 *
 * @param about the failed part of an action, as a prefix of the message
 */
export function showError(error: unknown, about?: string): number {
  const { message, requestId } = toProblem(error);
  return add({ message: about === undefined ? message : `${about}: ${message}`, requestId, kind: 'failed' });
}

/**
 * Shows that an action was performed, with a button to undo it for a few seconds. It replaces the button of the action
 * before. A failure of `undo` is shown as a message.
 *
 * @param undone the message after `undo`
 */
export function showUndoToast(message: string, undone: string, undo: () => Promise<unknown>): void {
  toasts.value = toasts.value.filter((toast) => toast.undo === undefined);
  const act = async (): Promise<void> =>
    undo().then(
      () => showToast(undone),
      (error: unknown) => void showError(error),
    );
  add({ message, kind: 'done', undo: act });
}

/**
 * Undoes an action on each of several entries, one after the other. A failure leaves the others to be undone.
 *
 * @throws Error with the names of the entries that failed, and the reasons.
 */
export async function undoEach<Entry>(
  entries: readonly Entry[],
  undo: (entry: Entry) => Promise<unknown>,
  toName: (entry: Entry) => string,
): Promise<void> {
  const failed: string[] = [];
  const reasons = new Set<string>();
  for (const entry of entries) {
    await undo(entry).catch((error: unknown) => {
      failed.push(toName(entry));
      reasons.add(toProblem(error).message);
    });
  }
  if (failed.length > 0) throw new Error(`Undo failed for ${failed.join(', ')}. ${[...reasons].join(' ')}`);
}

export function removeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function add(toast: Omit<Toast, 'id'>): number {
  const id = (last += 1);
  recordActivity(describeProblem(toast), toast.kind);
  toasts.value = [...toasts.value, { ...toast, id }].slice(-MAX_TOASTS);
  return id;
}

/** The menu with past messages, including toasts that disappeared before they were read. */
export function ActivityPanel() {
  const panel = useRef<HTMLDivElement>(null);
  const clear = (): void => {
    // The focused button is removed together with the list.
    panel.current?.focus();
    clearActivity();
  };
  return (
    <Menu name="Activity">
      <div ref={panel} class="activity" role="region" tabIndex={-1} aria-label="Activity in this browser">
        {activity.value.length === 0 ? (
          <p class="quiet">No activity in this browser yet.</p>
        ) : (
          <Entries onClear={clear} />
        )}
      </div>
    </Menu>
  );
}

function Entries({ onClear }: { readonly onClear: () => void }) {
  return (
    <>
      <ol tabIndex={0} aria-label="Newest first">
        {activity.value.map((entry, index) => (
          // Times are not unique.
          <Entry key={`${entry.at} ${index}`} entry={entry} />
        ))}
      </ol>
      <button type="button" onClick={onClear}>
        Clear
      </button>
    </>
  );
}

const Entry = ({ entry: { at, text, kind } }: { readonly entry: ActivityEntry }) => (
  <li class={kind}>
    {kind === 'failed' && <span class="bad">Failed: </span>}
    {text} <time dateTime={at}>{formatDateTime(at)}</time>
  </li>
);

interface ActivityEntry {
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
const activity = computed(() => (stored.value?.username === user.value?.username ? (stored.value?.deeds ?? []) : []));

/** Adds a message to the activity of this browser. Reads the storage first, as other tabs may have added messages. */
function recordActivity(text: string, kind: ActivityEntry['kind']): void {
  const username = user.value?.username;
  if (username === undefined) return;
  const before = read();
  const deeds = before?.username === username ? before.deeds : [];
  store({ username, deeds: [{ at: new Date(serverNow()).toISOString(), text, kind }, ...deeds].slice(0, MAX_ENTRIES) });
}

function clearActivity(): void {
  store(undefined);
}

function store(next: StoredActivity | undefined): void {
  stored.value = next;
  if (next === undefined) sharedStorage.removeItem(STORAGE_KEY);
  else sharedStorage.setItem(STORAGE_KEY, JSON.stringify(next));
}

function read(): StoredActivity | undefined {
  try {
    const found = JSON.parse(sharedStorage.getItem(STORAGE_KEY) ?? '') as Partial<StoredActivity>;
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
