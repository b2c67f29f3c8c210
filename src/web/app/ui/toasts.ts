import { signal } from '@preact/signals';
import { toUserMessage } from '../api.js';
import { recordActivity } from './activity.js';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
  /** Undoes the action that the message is about. */
  readonly undo?: () => Promise<unknown>;
}

export const toasts = signal<readonly Toast[]>([]);

/** More toasts would hide the page. */
const MAX_TOASTS = 4;

let last = 0;

/**
 * Shows a message and adds it to the activity. Screen readers announce failures at once, and successes when they pause.
 */
export function showToast(text: string, kind: Toast['kind'] = 'done'): void {
  add({ text, kind });
}

/**
 * Shows that an action was performed, with a button to undo it for a few seconds. It replaces the button of the action
 * before. A failure of `undo` is shown as a message.
 *
 * @param undone the message after `undo`
 */
export function showUndoToast(text: string, undone: string, undo: () => Promise<unknown>): void {
  toasts.value = toasts.value.filter((toast) => toast.undo === undefined);
  const act = async (): Promise<void> =>
    undo().then(
      () => showToast(undone),
      (error: unknown) => showToast(toUserMessage(error), 'failed'),
    );
  add({ text, kind: 'done', undo: act });
}

function add(toast: Omit<Toast, 'id'>): void {
  const id = (last += 1);
  recordActivity(toast.text, toast.kind);
  toasts.value = [...toasts.value, { ...toast, id }].slice(-MAX_TOASTS);
}
