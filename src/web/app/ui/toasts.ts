import { signal } from '@preact/signals';
import { describeProblem, type Problem, toProblem } from '../api.js';
import { recordActivity } from './activity.js';

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
 * Shows an error until it is dismissed, and adds it to the activity. Screen readers announce it at once.
 *
 * @param about the failed part of an action, as a prefix of the message
 */
export function showError(error: unknown, about?: string): void {
  const { message, requestId } = toProblem(error);
  add({ message: about === undefined ? message : `${about}: ${message}`, requestId, kind: 'failed' });
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
      (error: unknown) => showError(error),
    );
  add({ message, kind: 'done', undo: act });
}

function add(toast: Omit<Toast, 'id'>): void {
  const id = (last += 1);
  recordActivity(describeProblem(toast), toast.kind);
  toasts.value = [...toasts.value, { ...toast, id }].slice(-MAX_TOASTS);
}
