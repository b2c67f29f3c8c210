import { signal } from '@preact/signals';
import { recordActivity } from './activity.js';
import { pendingConfirmation } from './confirmation.js';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

const toasts = signal<readonly Toast[]>([]);

/** How long a success message is shown; errors stay until they are dismissed. */
const SHOWN_MS = 6_000;

/** More toasts would hide the page. */
const MAX_TOASTS = 4;

let last = 0;

/**
 * Shows a message and adds it to the activity. Screen readers announce failures at once, and successes when they pause.
 */
export function showToast(text: string, kind: Toast['kind'] = 'done'): void {
  const id = (last += 1);
  recordActivity(text, kind);
  toasts.value = [...toasts.value, { id, text, kind }].slice(-MAX_TOASTS);
  if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts">
      <div role="status">{listOf('done')}</div>
      <div role="alert">{listOf('failed')}</div>
      <div class="aside" role="status">
        {pendingConfirmation.value?.question}
      </div>
    </div>
  );
}

const listOf = (kind: Toast['kind']) =>
  toasts.value
    .filter((toast) => toast.kind === kind)
    .map(({ id, text }) => (
      <p key={id} class={`toast ${kind}`}>
        {text}
        <button type="button" class="plain" aria-label={`Dismiss: ${text}`} onClick={() => dismiss(id)}>
          <span aria-hidden="true">×</span>
        </button>
      </p>
    ));
